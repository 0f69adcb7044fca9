import { toHttpStatus } from '../../core/base/errors.ts';
import { toServerError } from '../database/errors.ts';
import { formatPause } from '../pages/layout.tsx';
import type { PasswordRefusal } from '../people/password-checks.ts';
import type { ServerContext } from './context.ts';

/** A page's text for a refusal. */
export interface RefusalText {
  error: string;
  status: 403 | 404 | 409 | 422;
}

/** Converts a refusal to a text and a status; rethrows our own faults and other errors. */
export function readRefusal(thrown: unknown): RefusalText {
  const { code, message, hint } = toServerError(thrown);
  const status = toHttpStatus(code);
  if (status >= 500 || status === 400) throw thrown;
  const error = hint === undefined ? message : `${message}: ${String(hint)}`;
  return { error, status: status === 403 || status === 404 || status === 409 ? status : 422 };
}

/** Sets the retry header for a program, and returns the sentence for a person. */
export function askToWait(context: ServerContext, why: string, waitMs: number): string {
  context.header('Retry-After', String(Math.ceil(waitMs / 1000)));
  return `${why}. Try again in ${formatPause(waitMs)}.`;
}

const WHY_NOT_COMPARED = {
  too_many_wrong: 'Too many wrong passwords',
  network_busy: 'Too many people sign in from your network just now',
  busy: 'Too many people sign in just now',
} as const satisfies Record<PasswordRefusal['refused'], string>;

/** A page's text for a password that was not compared. */
export const describeRefused = (context: ServerContext, { refused, waitMs }: PasswordRefusal): string =>
  askToWait(context, WHY_NOT_COMPARED[refused], waitMs);

import { toHttpStatus } from '../../base/errors.ts';
import { toServerError } from '../database/errors.ts';

/** What a page says of what was refused. */
export interface Refusal {
  error: string;
  status: 403 | 404 | 409 | 422;
}

/** What was refused, in words and as a status; faults of our own, and what nobody can do anything about here, go on. */
export function readRefusal(thrown: unknown): Refusal {
  const { code, message, hint } = toServerError(thrown);
  const status = toHttpStatus(code);
  if (status >= 500 || status === 400) throw thrown;
  const error = hint === undefined ? message : `${message}: ${String(hint)}`;
  return { error, status: status === 403 || status === 404 || status === 409 ? status : 422 };
}

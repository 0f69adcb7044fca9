import { asSvcError, type ErrorCode, type SvcError, toHttpStatus } from '../base/errors.ts';

/** The media type of a problem. */
export const PROBLEM_JSON = 'application/problem+json';

/** An error in the form of RFC 9457, with our stable `code`. */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  hint?: string;
  [extension: string]: unknown;
}

// Only these facts of an error are sent; other data is for this machine.
const EXTENSIONS = [
  'fields',
  'server_time',
  'task_id',
  'decision_id',
  'session_id',
  'state',
  'changed',
] as const;

/** Errors whose hints concern files of this machine. */
const HINTS_KEPT: readonly ErrorCode[] = ['ledger_gate'];

const OWN_FAULTS: Partial<Record<ErrorCode, string>> = {
  storage_full: 'the disk is full; nothing was saved, and the same request may be sent again',
  storage_failed: 'nothing was saved; the same request may be sent again',
  engine_closing: 'the engine is stopping; the same request may be sent again',
};

/** Returns the client's view of an error. Internal errors reveal nothing about this machine: their messages may contain paths. */
export function problemDetails(error: unknown): ProblemDetails {
  const { code, message, hint, data }: SvcError = asSvcError(error);
  const status = toHttpStatus(code);
  const isOurFault = status >= 500;
  const details: ProblemDetails = {
    type: `urn:svc:problem:${code}`,
    title: code.replaceAll('_', ' '),
    status,
    detail: isOurFault ? (OWN_FAULTS[code] ?? 'the request failed here; see the log') : message,
    code,
  };
  if (isOurFault) return details;
  if (hint !== undefined && !HINTS_KEPT.includes(code)) details.hint = String(hint);
  for (const name of EXTENSIONS) if (data[name] !== undefined) details[name] = data[name];
  return details;
}

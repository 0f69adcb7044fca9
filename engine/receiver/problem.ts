import type { SvcError } from '../core/base/errors.ts';
import { PROBLEM_JSON, problemDetails } from '../core/http/problem-details.ts';
import type { ReceiverAnswer } from './request.ts';

/** Converts an error to an answer with problem details. `extra` adds headers (Allow, Retry-After). */
export function problemAnswer(error: SvcError, extra: Readonly<Record<string, string>> = {}): ReceiverAnswer {
  const details = problemDetails(error);
  return {
    status: details.status,
    headers: { 'content-type': PROBLEM_JSON, ...extra },
    body: JSON.stringify(details),
    code: details.code,
    taskId: null,
  };
}

import type { ErrorHandler } from 'hono/types';
import { toHttpStatus } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { PROBLEM_JSON, problemDetails } from '../../core/http/problem-details.ts';
import { toServerError } from '../database/errors.ts';
import { type ServerEnv, showPath } from './context.ts';

/** Answers programs with problem details (RFC 9457), and logs our own faults. Every 401 has its `challenge`. */
export const answerProblems =
  (log: Pick<Log, 'error'>, challenge: string): ErrorHandler<ServerEnv> =>
  (thrown, context) => {
    const error = toServerError(thrown);
    const details = problemDetails(error);
    if (details.status >= 500)
      log.error({ error: error.message, path: showPath(context) }, 'a request failed');
    if (details.status === 401) context.header('WWW-Authenticate', challenge);
    const pause = error.data.retry_after_s;
    if (typeof pause === 'number') context.header('Retry-After', String(pause));
    if (error.code === 'method_not_allowed') context.header('Allow', String(error.data.allow));
    return context.body(JSON.stringify(details), toHttpStatus(error.code) as 400, {
      'Content-Type': PROBLEM_JSON,
    });
  };

import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { isOwnSeat } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';
import type { VerificationSubject, VerifyService } from './index.ts';

/** Finds whose evidence a caller means. */
export function createSubjectFinder(verify: Pick<VerifyService, 'subject'>, tasks: Pick<Tasks, 'resolve'>) {
  function nameSubject(given: string | undefined, caller: Caller): string {
    const name = given === undefined || isOwnSeat(given, caller) ? caller.sessionId : given;
    if (name !== null) return name;
    throw new SvcError('fields_invalid', 'session: name the session of the evidence', {
      data: { fields: [{ field: 'session', problem: 'is missing' }] },
    });
  }

  /** Evidence is reported by the session that did the work; only a Chair reports for others. */
  function resolveSubject(given: string | undefined, caller: Caller): VerificationSubject {
    const name = nameSubject(given, caller);
    if (caller.seat === 'chair' || name === caller.sessionId) return verify.subject(name);
    const who = caller.sessionId ?? `a ${caller.seat} session`;
    throw new SvcError('holder_mismatch', `${who} cannot report for ${name}`, {
      hint: sentence`omit {input.session} to report for yourself`,
    });
  }

  function taskOf(
    { sessionId, session: worker }: VerificationSubject,
    given: string | undefined,
    caller: Caller,
  ): string | null {
    const wanted = given ?? (worker === null ? caller.env.SVC_TASK : undefined);
    const own = worker?.taskId ?? null;
    if (wanted === undefined) return own;
    const { taskId } = tasks.resolve(wanted);
    if (own === null || own === taskId) return taskId;
    throw new SvcError('holder_mismatch', `${sessionId} works on ${own}, not on ${taskId}`, {
      hint: sentence`omit {input.task}`,
    });
  }

  return { nameSubject, resolveSubject, taskOf };
}

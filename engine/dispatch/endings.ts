import type { InputChange } from '../board/decisions/index.ts';
import { rfc3339 } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import { findExpectation, NO_FACTS, type StreamFacts } from '../workers/agents/index.ts';
import { NOTHING_KEPT, type RunResult } from '../workers/runner/runs/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import { findChanges } from './approval.ts';
import type { DispatchDeps } from './context.ts';
import type { KeepSessionWork } from './keep-work.ts';
import { takeOwnUsage } from './own-usage.ts';
import {
  decideAfterLimit,
  decideFreshStart,
  decideUntilAnswered,
  decideWithoutEngine,
  type RunPause,
} from './pause.ts';
import type { PersistRun } from './persist.ts';
import { recordEnd } from './record-end.ts';
import { pauseSession } from './record-pause.ts';
import { decideVerdict, type RunEnd, type RunVerdict } from './verdict.ts';

/** Ends of sessions' runs, and their records. */
export interface RunEndings {
  /** Saves a session's work and records its end. */
  endSession(sessionId: string, verdict: RunVerdict, facts?: StreamFacts): Promise<void>;
  /** Ends a session that was not started for this reason, or asks for its approval again. */
  failToStart(sessionId: string, error: unknown): Promise<void>;
  /** Handles the end of a run: its output and exit code lead to an end or a pause. */
  endRun(sessionId: string, end: RunEnd, result: RunResult): Promise<void>;
}

export function createEndings(
  deps: DispatchDeps,
  persist: PersistRun,
  keepWork: KeepSessionWork,
): RunEndings {
  const { sessions, tasks, log } = deps;

  async function endSession(
    sessionId: string,
    verdict: RunVerdict,
    facts: StreamFacts = NO_FACTS,
  ): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = await keepWork(session, false);
    await persist(`the end of ${sessionId}`, () => recordEnd(deps, session, verdict, kept, facts));
    log.info({ session: sessionId, task: session.taskId, failure: verdict.failure?.code }, 'session ended');
  }

  async function endRun(sessionId: string, end: RunEnd, result: RunResult): Promise<void> {
    if (end.endedBy === 'timeout')
      await persist(`the time limit of ${sessionId}`, () => sessions.stopping(sessionId, 'timeout', 'svc'));
    const session = sessions.get(sessionId);
    const facts = takeOwnUsage(deps, session, result.facts);
    // A claim counts unless the run has called, and the last calls may not be in the books yet.
    if (facts.usage !== null && session.auth === 'gateway' && !sessions.isCounted(sessionId))
      await deps.keys.saveCalls();
    const printed = { expects: findExpectation(deps, session), hasSpoken: result.hasSpoken };
    const left = decideWithoutEngine(deps, session, end);
    const verdict = left?.verdict ?? decideVerdict(session, end, facts, printed);
    const limited = decideAfterLimit(deps, session, verdict, facts);
    if (limited !== null && 'verdict' in limited) return endSession(sessionId, limited.verdict, facts);
    const paused =
      left?.pause ??
      limited?.pause ??
      (await decideWhileUnanswered(session)) ??
      decideFreshStart(deps, session, verdict, result);
    if (paused !== null) await keepWork(session, true);
    if (paused === null || !(await pauseSession(deps, persist, session, paused, facts)))
      return endSession(
        sessionId,
        left?.verdict ?? decideVerdict(sessions.get(sessionId), end, facts, printed),
        facts,
      );
    log.info({ session: sessionId, code: paused.code, until: rfc3339(paused.until) }, 'session paused');
  }

  /** Keeps its questions open, so that an answer finds them. */
  const decideWhileUnanswered = (session: Session): Promise<RunPause | null> =>
    session.stopReason === 'unanswered'
      ? deps.storage.write(() => decideUntilAnswered(deps, session))
      : Promise.resolve(null);

  /** Cancels the start; its task waits for an approval of the current inputs. */
  async function loseApproval(
    sessionId: string,
    why: string,
    changes: readonly InputChange[],
  ): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = session.cwd === null ? NOTHING_KEPT : await keepWork(session, false);
    const failure = { code: 'inputs_changed', text: why };
    const verdict: RunVerdict = { sealed: false, exitCode: null, exitSignal: null, failure, reason: why };
    await persist(`the lost approval of ${sessionId}`, () => {
      const isEnding = sessions.get(sessionId).state !== 'ended';
      // First: the task no longer belongs to the session when that ends, and so continues to wait.
      if (isEnding && tasks.get(session.taskId).sessionId === sessionId)
        deps.approvals.lose(session, why, changes);
      recordEnd(deps, session, verdict, kept, NO_FACTS);
    });
    log.warn(
      { session: sessionId, task: session.taskId },
      'the session does not start: its approval was lost',
    );
  }

  async function failToStart(sessionId: string, thrown: unknown): Promise<void> {
    const error = asSvcError(thrown);
    const { code, message, hint } = error;
    const changes = findChanges(error);
    if (changes !== null) return loseApproval(sessionId, message, changes);
    const { stranger } = tasks.get(sessions.get(sessionId).taskId);
    // Never without the sandbox, and never failed because it is missing: a person decides.
    const lacksSandbox = code === 'confinement_unavailable' || code === 'tool_missing';
    if (stranger !== null && lacksSandbox) return loseApproval(sessionId, message, []);
    log.warn({ session: sessionId, code, error: message }, 'the worker could not be started');
    const text = hint === undefined ? message : `${message} (${hint})`;
    const reason = `could not start: ${code}`;
    await endSession(sessionId, {
      sealed: false,
      exitCode: null,
      exitSignal: null,
      failure: { code, text },
      reason,
    });
  }

  return { endSession, failToStart, endRun };
}

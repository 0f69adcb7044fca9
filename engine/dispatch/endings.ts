import type { InputChange } from '../board/decisions/index.ts';
import { rfc3339 } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import { findExpectation, NO_FACTS, type StreamFacts } from '../workers/agents/index.ts';
import { type KeptWorktree, NOTHING_KEPT, type RunResult } from '../workers/runner/runs/index.ts';
import { decideOutcome, findPlacement, type Session, workLeftBy } from '../workers/sessions/index.ts';
import { findChanges } from './approval.ts';
import type { DispatchDeps } from './context.ts';
import { takeOwnUsage } from './own-usage.ts';
import { decideAfterLimit, decideFreshStart, type RunPause } from './pause.ts';
import type { PersistRun } from './persist.ts';
import { decideVerdict, type RunEnd, type RunVerdict } from './verdict.ts';

/** Ends of sessions' runs, and their records. */
export interface RunEndings {
  /** Inside `storage.write`. The first end is final. */
  recordEnd(session: Session, verdict: RunVerdict, kept: KeptWorktree, facts: StreamFacts): void;
  /** Saves a session's work and records its end. */
  endSession(sessionId: string, verdict: RunVerdict, facts?: StreamFacts): Promise<void>;
  /** Ends a session that was not started for this reason, or asks for its approval again. */
  failToStart(sessionId: string, error: unknown): Promise<void>;
  /** Handles the end of a run: its output and exit code lead to an end or a pause. */
  endRun(sessionId: string, end: RunEnd, result: RunResult): Promise<void>;
}

export function createEndings(deps: DispatchDeps, persist: PersistRun): RunEndings {
  const { sessions, tasks, events, log } = deps;

  function recordEnd(session: Session, verdict: RunVerdict, kept: KeptWorktree, facts: StreamFacts): void {
    const { sessionId, taskId, decisionId, title, agent, project, branch } = session;
    const { ownWord } = sessions.get(sessionId);
    const left = workLeftBy({ ...session, commits: kept.commits });
    const { status, failure } = decideOutcome(ownWord, verdict.failure, left, { mayRetry: true });
    if (!sessions.end(sessionId, { ...verdict, failure, ...kept })) return;
    sessions.heard(sessionId, facts);
    deps.keys.revokeKey(sessionId);
    // The worker's mark of its task does not concern the agent.
    deps.circuits.recordEnd(agent, verdict.cause ?? verdict.failure);
    deps.races.sessionEnded(session);
    // The task may be another session's, or have been marked while this one waited.
    if (tasks.get(taskId).sessionId === sessionId) {
      const marked = ownWord === null ? [] : (['done', 'failed'] as const);
      tasks.end(taskId, ['assigned', 'running', ...marked], { status, exitCode: verdict.exitCode, failure });
    }
    const task = tasks.get(taskId);
    const mayRetry = task.sessionId === sessionId && task.status === 'failed';
    const outcome = decideOutcome(ownWord, failure, left, { mayRetry });
    const reason = verdict.reason ?? failure?.text ?? null;
    const { contradiction } = outcome;
    const about = { taskId, decisionId, sessionId, via: 'engine' };
    events.append({
      ...about,
      // Recipients of failures have been asked to approve it again: the task has not failed.
      kind: failure === null ? 'sealed' : failure.code === 'inputs_changed' ? 'session_dropped' : 'failed',
      data: {
        title,
        agent,
        project,
        code: failure?.code ?? null,
        reason: contradiction === null ? reason : `${reason} (${contradiction})`,
        exitCode: verdict.exitCode,
        branch,
        commits: kept.commits,
        files: kept.files,
      },
    });
    deps.atEnd(sessions.get(sessionId), { ...verdict, reason, outcome }, kept);
    if (kept.left.length === 0) return;
    const look = 'check the worktree: svc task show shows the reason';
    events.append({ ...about, kind: 'alert', data: { title, reason: look, detail: kept.left.join('; ') } });
  }

  /** @param isPause it continues later: nothing is committed */
  function keepSessionWork(session: Session, isPause: boolean): Promise<KeptWorktree> {
    const { sessionId, taskId, profile } = session;
    const others = sessions.listLive();
    return deps.runner.keep({
      sessionId,
      profile,
      placement: findPlacement(session),
      isAlone: !others.some((each) => each.inplace && each.sessionId !== sessionId),
      message: isPause ? null : `svc: work in progress of ${sessionId} (${taskId})`,
    });
  }

  async function endSession(
    sessionId: string,
    verdict: RunVerdict,
    facts: StreamFacts = NO_FACTS,
  ): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = await keepSessionWork(session, false);
    await persist(`the end of ${sessionId}`, () => recordEnd(session, verdict, kept, facts));
    log.info({ session: sessionId, task: session.taskId, failure: verdict.failure?.code }, 'session ended');
  }

  /**
   * Pauses the session; the worktree stays unchanged, including uncommitted files. False if it was stopped, or its
   * task has ended, in the meantime.
   */
  function pauseSession(
    session: Session,
    { until, code, text, idlePauses, isLost }: RunPause,
    facts: StreamFacts,
  ): Promise<boolean> {
    const { sessionId, taskId, decisionId, title, agent } = session;
    return persist(`the pause of ${sessionId}`, () => {
      // It may be done by now, or wait for another run.
      const task = tasks.get(taskId);
      const isIts = task.sessionId === sessionId || (session.race !== null && task.race === session.race);
      if (!isIts || task.status === 'done' || task.status === 'failed') return false;
      if (!sessions.pause(sessionId, { resumeAt: until, code, text, idlePauses })) return false;
      sessions.heard(sessionId, facts);
      if (isLost) sessions.forgetConversation(sessionId);
      deps.keys.revokeKey(sessionId);
      tasks.pause(taskId, sessionId, until);
      events.append({
        kind: 'session_paused',
        taskId,
        decisionId,
        sessionId,
        via: 'engine',
        data: { title, agent, code, reason: `${agent} ended with ${code}`, resumeAt: rfc3339(until) },
      });
      return true;
    });
  }

  async function endRun(sessionId: string, end: RunEnd, result: RunResult): Promise<void> {
    const session = sessions.get(sessionId);
    const facts = takeOwnUsage(deps, session, result.facts);
    const printed = { expects: findExpectation(deps, session), hasSpoken: result.hasSpoken };
    const verdict = decideVerdict(session, end, facts, printed);
    const limited = decideAfterLimit(deps, session, verdict, facts);
    if (limited !== null && 'verdict' in limited) return endSession(sessionId, limited.verdict, facts);
    const paused = limited?.pause ?? decideFreshStart(deps, session, verdict, result);
    if (paused !== null) await keepSessionWork(session, true);
    if (paused === null || !(await pauseSession(session, paused, facts)))
      return endSession(sessionId, decideVerdict(sessions.get(sessionId), end, facts, printed), facts);
    log.info({ session: sessionId, code: paused.code, until: rfc3339(paused.until) }, 'session paused');
  }

  /** Cancels the start; its task waits for an approval of the current inputs. */
  async function loseApproval(
    sessionId: string,
    why: string,
    changes: readonly InputChange[],
  ): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = session.cwd === null ? NOTHING_KEPT : await keepSessionWork(session, false);
    const failure = { code: 'inputs_changed', text: why };
    const verdict: RunVerdict = { sealed: false, exitCode: null, exitSignal: null, failure, reason: why };
    await persist(`the lost approval of ${sessionId}`, () => {
      const isEnding = sessions.get(sessionId).state !== 'ended';
      // First: the task no longer belongs to the session when that ends, and so continues to wait.
      if (isEnding && tasks.get(session.taskId).sessionId === sessionId)
        deps.approvals.lose(session, why, changes);
      recordEnd(session, verdict, kept, NO_FACTS);
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

  return { recordEnd, endSession, failToStart, endRun };
}

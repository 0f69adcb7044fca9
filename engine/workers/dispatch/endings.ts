import type { InputChange } from '../../board/decisions/inputs.ts';
import type { Session } from '../../bus/sessions/index.ts';
import { rfc3339 } from '../../clock.ts';
import { asSvcError } from '../../errors.ts';
import type { ExitResult } from '../processes/index.ts';
import { NO_FACTS, type StreamFacts } from '../streams/stream.ts';
import { changesIn } from './approved.ts';
import { readerFor } from './command.ts';
import type { DispatchDeps } from './context.ts';
import { type Kept, keepWork, NOTHING_KEPT, type Verdict, verdictOf } from './finish.ts';
import { logFile } from './folders.ts';
import { createHearing, type Hearing } from './hear.ts';
import { anewOf, type Pause, pauseOf } from './pause.ts';
import type { Persist } from './persist.ts';
import { ofThisRun } from './usage.ts';

/** How the runs of sessions come to an end, and what is recorded of it. */
export interface Endings {
  /** What hears the last run of a session, from its first word on. */
  hearingOf(session: Session): Hearing;
  /** Inside `storage.write`. The first end counts. */
  recordEnd(session: Session, verdict: Verdict, kept: Kept, facts: StreamFacts): void;
  end(sessionId: string, verdict: Verdict, facts?: StreamFacts): Promise<void>;
  failToStart(sessionId: string, error: unknown): Promise<void>;
  /** Its process has ended, or never ran: what it said, and how it exited, make an end or a pause. */
  over(sessionId: string, exit: ExitResult, heard?: Hearing): Promise<void>;
}

/** Before git is called in what a confined run has left. */
function clearAfter({ worktrees, sessions, log }: DispatchDeps, session: Session): void {
  const { sessionId, profile, worktree, repository } = session;
  const folder = worktree ?? repository;
  if (profile !== 'strict' || folder === null) return;
  const traps = worktrees.clearTraps(folder);
  if (traps.length > 0)
    log.warn({ session: sessionId, traps }, 'the worker left pipes or links for git, which are gone');
  if (worktree !== null) return;
  const others = sessions.list({ live: true, limit: 100_000 });
  if (!others.some((each) => each.inplace && each.sessionId !== sessionId)) worktrees.releaseCheckout(folder);
}

export function createEndings(deps: DispatchDeps, persist: Persist): Endings {
  const { sessions, tasks, events, log } = deps;

  function recordEnd(session: Session, verdict: Verdict, kept: Kept, facts: StreamFacts): void {
    const { sessionId, taskId, decisionId, title, agent, project, branch } = session;
    if (!sessions.end(sessionId, { ...verdict, ...kept })) return;
    sessions.heard(sessionId, facts);
    deps.keys.revoke(sessionId);
    deps.circuits.record(agent, verdict.failure);
    // Tried again while this one still ran, the task is another session's.
    if (tasks.get(taskId).sessionId === sessionId)
      tasks.end(taskId, ['assigned', 'running'], {
        status: verdict.sealed ? 'done' : 'failed',
        exitCode: verdict.exitCode,
        failure: verdict.failure,
      });
    const about = { taskId, decisionId, sessionId, via: 'engine' };
    events.append({
      ...about,
      // Who is told of failures has been asked to approve it anew: the task has not failed.
      kind: verdict.sealed
        ? 'sealed'
        : verdict.failure?.code === 'inputs_changed'
          ? 'session_dropped'
          : 'failed',
      data: {
        title,
        agent,
        project,
        code: verdict.failure?.code ?? null,
        reason: verdict.reason,
        exitCode: verdict.exitCode,
        branch,
        commits: kept.commits,
        files: kept.files,
      },
    });
    deps.atEnd(sessions.get(sessionId), verdict, kept);
    if (kept.alert === null) return;
    const reason = 'the worktree needs a look: svc task show says why';
    events.append({ ...about, kind: 'alert', data: { title, reason, detail: kept.alert } });
  }

  async function end(sessionId: string, verdict: Verdict, facts: StreamFacts = NO_FACTS): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = await keepWork(deps, session);
    await persist(`the end of ${sessionId}`, () => recordEnd(session, verdict, kept, facts));
    log.info({ session: sessionId, task: session.taskId, failure: verdict.failure?.code }, 'session ended');
  }

  /** The worktree stays as it is, also what is not committed. False when it was stopped, or its task has ended, meanwhile. */
  function pause(
    session: Session,
    { until, code, text, isLost }: Pause,
    facts: StreamFacts,
  ): Promise<boolean> {
    const { sessionId, taskId, decisionId, title, agent } = session;
    return persist(`the pause of ${sessionId}`, () => {
      // It may be done meanwhile, or wait for another run.
      const task = tasks.get(taskId);
      if (task.sessionId !== sessionId || task.status === 'done' || task.status === 'failed') return false;
      if (!sessions.pause(sessionId, { resumeAt: until, code, text })) return false;
      sessions.heard(sessionId, facts);
      if (isLost) sessions.forgetConversation(sessionId);
      deps.keys.revoke(sessionId);
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

  const hearingOf = (session: Session): Hearing => {
    const { logFrom } = sessions.private(session.sessionId);
    return createHearing(logFile(deps, session.sessionId), logFrom, readerFor(deps, session));
  };

  async function over(sessionId: string, exit: ExitResult, heard?: Hearing): Promise<void> {
    const session = sessions.get(sessionId);
    clearAfter(deps, session);
    if (session.state === 'queued') return end(sessionId, verdictOf(session, exit));
    const hearing = heard ?? hearingOf(session);
    await hearing.finish();
    const facts = ofThisRun(deps, session, hearing.facts());
    const verdict = verdictOf(session, exit, facts);
    const limited = pauseOf(deps, session, verdict, facts) ?? anewOf(deps, session, verdict, hearing);
    if (limited === null || !(await pause(session, limited, facts)))
      return end(sessionId, verdictOf(sessions.get(sessionId), exit, facts), facts);
    log.info({ session: sessionId, code: limited.code, until: rfc3339(limited.until) }, 'session paused');
  }

  /** It is not made, and its task waits for somebody who approves it as it would be made now. */
  async function loseApproval(
    sessionId: string,
    why: string,
    changes: readonly InputChange[],
  ): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = session.cwd === null ? NOTHING_KEPT : await keepWork(deps, session);
    const failure = { code: 'inputs_changed', text: why };
    const verdict: Verdict = { sealed: false, exitCode: null, exitSignal: null, failure, reason: why };
    await persist(`the lost approval of ${sessionId}`, () => {
      const isEnding = sessions.get(sessionId).state !== 'ended';
      // First: the task is not the session's any more when that ends, and so goes on waiting.
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
    const changes = changesIn(error);
    if (changes !== null) return loseApproval(sessionId, message, changes);
    const { stranger } = tasks.get(sessions.get(sessionId).taskId);
    // Never without the sandbox, and never failed for the lack of one: a person decides.
    const lacksSandbox = code === 'confinement_unavailable' || code === 'tool_missing';
    if (stranger !== null && lacksSandbox) return loseApproval(sessionId, message, []);
    log.warn({ session: sessionId, code, error: message }, 'the worker could not be started');
    const text = hint === undefined ? message : `${message} (${hint})`;
    const reason = `could not start: ${code}`;
    await end(sessionId, {
      sealed: false,
      exitCode: null,
      exitSignal: null,
      failure: { code, text },
      reason,
    });
  }

  return { hearingOf, recordEnd, end, failToStart, over };
}

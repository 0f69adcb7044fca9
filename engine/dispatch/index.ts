import { randomUUID } from 'node:crypto';
import type { RunPlanner } from '../board/index.ts';
import type { DispatchPort } from '../board/workflow/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import { findOutputFormat, NO_FACTS, type StreamFacts } from '../workers/agents/index.ts';
import { type CollectOrder, NOTHING_KEPT, type RunExit, type RunName } from '../workers/runner/runs/index.ts';
import type { RunProcess, Session } from '../workers/sessions/index.ts';
import { createOptionsOfLive } from './approval.ts';
import { beginRun, findConversation } from './begin.ts';
import type { DispatchDeps } from './context.ts';
import { createEndings } from './endings.ts';
import { enqueueSession } from './enqueue.ts';
import { enforceLimits, findRunStart } from './limits.ts';
import { createPersist } from './persist.ts';
import { checkCommandOfRun, planRun } from './plan.ts';
import { createQueue } from './queue.ts';
import { type RecoverySteps, takeOver } from './recover.ts';
import { createReadSettings } from './settings.ts';
import { decideVerdict, type RunEnd } from './verdict.ts';

export type { DispatchDeps, RunKeys } from './context.ts';
export { describeRun, explainSvc, quoteTask, recallEarlierRun, remindRules } from './texts/index.ts';

export interface Dispatcher extends DispatchPort, RunPlanner {
  /** Settles the state that an earlier host left behind, then starts waiting sessions. */
  recover(): Promise<void>;
  readonly cap: number;
  /** Returns the facts that a running session has reported so far; null if it is not running here. */
  facts(sessionId: string): StreamFacts | null;
  /** Inside `storage.write`: resumes a paused session now. False if it is not paused. */
  resume(sessionId: string, by: CallAuthor): boolean;
  /** Resumes the sessions that were paused with this code, before their time. */
  resumePaused(code: string): Promise<void>;
  /** Checks the queue, after something other than a commit has freed a slot. */
  look(): void;
  /** Adopts live sessions whose supervision failed. */
  takeUp(): Promise<void>;
  /** Cancels every live session and waits until none of their processes run. */
  stopAll(): Promise<void>;
  /** Releases the workers, which continue by themselves; a later host adopts them. */
  close(): Promise<void>;
}

/** The reason for a session that is stopped while nothing of it runs. */
const NEVER: RunExit = { code: null, signal: null };

/** Owns the way of a session from queued to ended. One host, one dispatcher. */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { storage, sessions, tasks, events, runner, clock } = deps;
  const closing = new AbortController();
  /** Checks the limits of running sessions, after a stop was requested. */
  const looks = new Set<() => void>();

  const persist = createPersist(deps, closing.signal);
  const endings = createEndings(deps, persist);
  const queue = createQueue(deps, { begin: beginSession, closing: closing.signal });
  const { ownSession, startWaiting } = queue;
  const settings = createReadSettings(deps);

  function buildCollectOrder(run: RunName): CollectOrder {
    const session = sessions.get(run.sessionId);
    return {
      run,
      format: findOutputFormat(deps, session),
      outputFrom: sessions.private(run.sessionId).logFrom,
      cwd: session.cwd,
      profile: session.profile,
      worker: session.workerId,
      // Before its first run: an earlier run's start is just as valid.
      since: Date.parse(session.createdAt),
      resumed: findConversation(deps, session),
    };
  }

  /** Follows a running process to the end of the session, or to its next pause. */
  async function followRun(run: RunName): Promise<void> {
    const { sessionId } = run;
    let facts = NO_FACTS;
    let lastOutputAt = clock.monotonic();
    const { value: exit, wasStopped } = await enforceLimits(deps, {
      run,
      startedAt: findRunStart(deps, sessionId),
      activity: { hasTold: () => facts.end !== null, lastOutputAt: () => lastOutputAt },
      looks,
      over: runner.watch(buildCollectOrder(run), (report) => {
        facts = report.facts;
        lastOutputAt = clock.monotonic() - report.quietMs;
        queue.noteFacts(sessionId, facts);
      }),
    });
    if (exit !== null) await finishRun(run, { ...exit, wasStopped });
  }

  async function finishRun(run: RunName, end: RunEnd): Promise<void> {
    const result = await runner.collect(buildCollectOrder(run));
    await endings.endRun(run.sessionId, end, result);
    await runner.discard(run);
  }

  async function beginSession(sessionId: string): Promise<void> {
    // Before anything is recorded: it stays unchanged until it is adopted.
    deps.requireConsent();
    const run = { sessionId, runId: randomUUID() };
    let process: RunProcess;
    try {
      process = await beginRun({ deps, persist, looks, run });
    } catch (error) {
      if (closing.signal.aborted) return;
      const { stopReason } = sessions.get(sessionId);
      if (stopReason === null) await endings.failToStart(sessionId, error);
      else await endStopped(sessionId);
      return runner.discard(run);
    }
    await recordProcess(sessionId, process);
    await followRun(run);
  }

  const endStopped = (sessionId: string): Promise<void> =>
    endings.endSession(sessionId, decideVerdict(sessions.get(sessionId), NEVER));

  async function recordProcess(sessionId: string, process: RunProcess): Promise<void> {
    await persist(`the process of ${sessionId}`, () => {
      const session = sessions.get(sessionId);
      if (session.state !== 'starting') return;
      sessions.running(sessionId, process);
      tasks.start(session.taskId, sessionId);
      deps.races.started(session);
      events.append({
        kind: 'session_started',
        taskId: session.taskId,
        decisionId: session.decisionId,
        sessionId,
        via: 'engine',
        data: { title: session.title, agent: session.agent, branch: session.branch },
      });
    });
  }

  /** After the commit that stops a session: its supervisor notices. */
  function lookAtStops(): void {
    for (const look of looks) look();
  }

  /** After the commit that stopped a paused session: it ends, and its work is saved. */
  function endDropped(sessionId: string): void {
    queue.ownSessionNext(sessionId, () => {
      // It may have ended by then.
      const { state, stopReason } = sessions.get(sessionId);
      return state === 'queued' && stopReason !== null ? () => endStopped(sessionId) : null;
    });
  }

  const stopSession: DispatchPort['stop'] = (sessionId, reason, by) => {
    const session = sessions.get(sessionId);
    if (!sessions.stopping(sessionId, reason, by.actor)) return;
    events.append({ kind: 'session_stopping', taskId: session.taskId, sessionId, ...by, data: { reason } });
    storage.afterCommit(lookAtStops);
    storage.afterCommit(startWaiting);
    if (session.state !== 'queued') return;
    // A waiting session has nothing to stop, and need not wait for a slot to end; but a paused one's work is saved.
    if (session.cwd === null)
      endings.recordEnd(session, decideVerdict(sessions.get(sessionId), NEVER), NOTHING_KEPT, NO_FACTS);
    else storage.afterCommit(() => endDropped(sessionId));
  };

  const steps: RecoverySteps = { beginSession, followRun, finishRun, recordProcess, endPaused: endStopped };

  /** Gives every live session without an owner in this host an owner: at the start, and after its owner failed. */
  function takeUp(): void {
    for (const session of sessions.listLive()) {
      // A waiting one is only stopped by its end; see `stop`.
      if (session.state === 'queued' && session.stopReason === null) continue;
      ownSession(session.sessionId, () => takeOver(deps, steps, session));
    }
  }

  function resumeSession(sessionId: string, by: CallAuthor): boolean {
    deps.requireConsent();
    const { taskId, title, agent } = sessions.get(sessionId);
    const now = clock.now();
    if (!sessions.resumeAt(sessionId, now)) return false;
    tasks.pause(taskId, sessionId, now);
    events.append({ kind: 'session_resumed', taskId, sessionId, ...by, data: { title, agent } });
    storage.afterCommit(startWaiting);
    return true;
  }

  return {
    cap: deps.cap,
    stop: stopSession,
    drop(sessionId, by) {
      const { state } = sessions.get(sessionId);
      if (state === 'queued') stopSession(sessionId, 'cancelled', by);
      return state === 'queued' || state === 'ended';
    },
    recordOwnWord: sessions.recordOwnWord,
    isLive: (sessionId) => sessions.get(sessionId).state !== 'ended',
    facts: queue.facts,
    resume: resumeSession,
    async resumePaused(code) {
      const isMeant = (session: Session): boolean =>
        session.state === 'queued' && session.resumeAt !== null && session.pause?.code === code;
      if (!sessions.listLive().some(isMeant)) return;
      await storage.write(() => {
        for (const session of sessions.listLive())
          if (isMeant(session)) resumeSession(session.sessionId, { actor: 'svc', via: 'engine' });
      });
    },
    look: startWaiting,
    settings,
    checkCommand: (task, options) => checkCommandOfRun(deps, task, options),
    plan: (task, options) => planRun(deps, task, options, settings(task, options).profile),

    findLock: (task) => deps.findLock(deps.agents.resolveProjectId(task.project)),

    enqueue(task, decision, options, race) {
      deps.requireConsent();
      const lock = deps.findLock(deps.agents.resolveProjectId(task.project));
      if (lock !== null) throw lock;
      storage.afterCommit(startWaiting);
      return enqueueSession(deps, task, decision, options, race);
    },

    async recover() {
      await storage.write(() => {
        deps.approvals.bindOld(createOptionsOfLive(deps));
        deps.races.recover();
      });
      takeUp();
      startWaiting();
    },

    async takeUp() {
      takeUp();
    },

    async stopAll() {
      await storage.write(() => {
        for (const { sessionId } of sessions.listLive()) {
          stopSession(sessionId, 'cancelled', { actor: 'svc', via: 'engine' });
        }
      });
      // Queued ones have ended in that transaction; running ones end now.
      await queue.whenSettled();
    },

    async close() {
      closing.abort();
      queue.close();
      await runner.close();
      await queue.whenSettled();
    },
  };
}
export type { TextContributor } from './texts/index.ts';

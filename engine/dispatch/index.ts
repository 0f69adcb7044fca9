import { randomUUID } from 'node:crypto';
import type { Planner } from '../board/index.ts';
import type { Dispatch } from '../board/workflow/index.ts';
import type { By } from '../core/api/operation.ts';
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
import { type Steps, takeOver } from './recover.ts';
import { createReadSettings } from './settings.ts';
import { decideVerdict, type RunEnd } from './verdict.ts';

export type { DispatchDeps, RunKeys } from './context.ts';
export { describeRun, explainSvc, quoteTask, recallEarlierRun, remindRules } from './texts/index.ts';

export interface Dispatcher extends Dispatch, Planner {
  /** Settles what an earlier host left behind, then starts what waits. */
  recover(): Promise<void>;
  readonly cap: number;
  /** What a running session has said of itself so far; null when it does not run here. */
  facts(sessionId: string): StreamFacts | null;
  /** Inside `storage.write`: a paused session goes on now. False when it is not paused. */
  resume(sessionId: string, by: By): boolean;
  /** Resumes the sessions that were paused with this code, before their time has come. */
  resumePaused(code: string): Promise<void>;
  /** Looks at the queue, after something else than a commit has made way. */
  look(): void;
  /** Takes up live sessions whose supervision failed. */
  takeUp(): Promise<void>;
  /** Cancels every live session and waits until nothing of them runs. */
  stopAll(): Promise<void>;
  /** Lets go of the workers, which go on by themselves; a later host adopts them. */
  close(): Promise<void>;
}

/** Of a session that is stopped while nothing of it runs. */
const NEVER: RunExit = { code: null, signal: null };

/** Owns the way of a session from queued to ended. One host, one dispatcher. */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { storage, sessions, tasks, events, runner, clock } = deps;
  const closing = new AbortController();
  /** Looks at the limits of running sessions, for when a stop was asked for. */
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
      // Before its first run: what an earlier run of it has begun is as good.
      since: Date.parse(session.createdAt),
      resumed: findConversation(deps, session),
    };
  }

  /** From a running process to the end of the session, or to its next pause. */
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
    // Before anything is recorded: it stays as it is until it is taken up again.
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

  /** After the commit that asked a session to stop: whoever supervises it sees that. */
  function lookAtStops(): void {
    for (const look of looks) look();
  }

  /** After the commit that stopped a paused session: it ends, and what it did is kept. */
  function endDropped(sessionId: string): void {
    queue.ownSessionNext(sessionId, () => {
      // It may have ended by then.
      const { state, stopReason } = sessions.get(sessionId);
      return state === 'queued' && stopReason !== null ? () => endStopped(sessionId) : null;
    });
  }

  const stop: Dispatch['stop'] = (sessionId, reason, by) => {
    const session = sessions.get(sessionId);
    if (!sessions.stopping(sessionId, reason, by.actor)) return;
    events.append({ kind: 'session_stopping', taskId: session.taskId, sessionId, ...by, data: { reason } });
    storage.afterCommit(lookAtStops);
    storage.afterCommit(startWaiting);
    if (session.state !== 'queued') return;
    // What only waits has nothing to be stopped, and need not wait for room to end; but what a paused one did is kept.
    if (session.cwd === null)
      endings.recordEnd(session, decideVerdict(sessions.get(sessionId), NEVER), NOTHING_KEPT, NO_FACTS);
    else storage.afterCommit(() => endDropped(sessionId));
  };

  const steps: Steps = { beginSession, followRun, finishRun, recordProcess, endPaused: endStopped };

  /** Every live session that has no owner in this host gets one: at the start, and when its owner gave up. */
  function takeUp(): void {
    for (const session of sessions.listLive()) {
      // One that waits is stopped by its end alone; see `stop`.
      if (session.state === 'queued' && session.stopReason === null) continue;
      ownSession(session.sessionId, () => takeOver(deps, steps, session));
    }
  }

  function resumeSession(sessionId: string, by: By): boolean {
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
    stop,
    drop(sessionId, by) {
      const { state } = sessions.get(sessionId);
      if (state === 'queued') stop(sessionId, 'cancelled', by);
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
          stop(sessionId, 'cancelled', { actor: 'svc', via: 'engine' });
        }
      });
      // Queued ones have ended in that transaction; what runs ends now.
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

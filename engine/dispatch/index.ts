import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { findCommandOfSession, NO_FACTS, type StreamFacts } from '../agents/index.ts';
import type { By } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import type { Planner } from '../board/index.ts';
import type { Dispatch } from '../board/workflow/index.ts';
import type { ExitResult, RunningProcess } from '../runner/processes/index.ts';
import { approvedProfile, askedOfLive, checkApproved, checkBase } from './approved.ts';
import { checkBudget } from './budget.ts';
import { hasMoved, takeUpAgentFolder } from './carry.ts';
import { seatOfRun } from './confined.ts';
import type { DispatchDeps } from './context.ts';
import { createEndings } from './endings.ts';
import { enqueue } from './enqueue.ts';
import { NOTHING_KEPT, verdictOf } from './finish.ts';
import { runDir } from './folders.ts';
import { noteRun } from './go-on.ts';
import { createReadSettings } from './inputs.ts';
import { launch } from './launch.ts';
import { createPersist } from './persist.ts';
import { place } from './place.ts';
import { checkProgram, planRun } from './plan.ts';
import { prepare } from './prepare.ts';
import { createQueue } from './queue.ts';
import { recover, type Steps, takeUp } from './recover.ts';
import { supervise } from './supervise.ts';

export type { DispatchDeps, RunKeys } from './context.ts';

export { agentDir, briefFile } from './folders.ts';
export { createSessionLogs, type SessionLogs } from './logs.ts';

export interface Dispatcher extends Dispatch, Planner {
  /** Settles what an earlier host left behind, then starts what waits. */
  recover(): Promise<void>;
  readonly cap: number;
  /** What a running session has said of itself so far; null when it does not run here. */
  facts(sessionId: string): StreamFacts | null;
  /** Inside `storage.write`: a paused session goes on now. False when it is not paused. */
  resume(sessionId: string, by: By): boolean;
  /** Looks at the queue, after something else than a commit has made way. */
  look(): void;
  /** Takes up live sessions whose supervision failed. */
  takeUp(): Promise<void>;
  /** Cancels every live session and waits until nothing of them runs. */
  stopAll(): Promise<void>;
  /** Lets go of the workers, which go on by themselves; a later host adopts them. */
  close(): Promise<void>;
}

const NEVER: ExitResult = { code: null, signal: null };

/** Owns the way of a session from queued to ended. One host, one dispatcher. */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { storage, sessions, tasks, events, processes, clock, log } = deps;
  const closing = new AbortController();
  /** Looks of the running supervisors, for when a stop was asked for. */
  const looks = new Set<() => void>();
  const persist = createPersist(deps, closing.signal);
  const endings = createEndings(deps, persist);
  const { end, over } = endings;
  const queue = createQueue(deps, { begin, closing: closing.signal });
  const { own, pump } = queue;
  const settings = createReadSettings(deps);

  /** From a running process to the end of the session, or to its next pause. */
  async function follow(sessionId: string, runId: string, running: RunningProcess): Promise<void> {
    const hearing = endings.hearingOf(sessions.get(sessionId));
    queue.hears(sessionId, hearing);
    const seat = await seatOfRun(deps, sessions.get(sessionId), runId);
    const exit = await supervise(deps, {
      sessionId,
      runId,
      running,
      hearing,
      looks,
      closing: closing.signal,
    });
    if (exit === null) return;
    const { survivors } = await processes.sweep(runId, running.pidStart);
    if (survivors.length > 0)
      log.error({ session: sessionId, survivors }, 'processes of the worker could not be ended');
    await seat?.close();
    await over(sessionId, exit, hearing);
    await rm(runDir(deps, sessionId, runId), { recursive: true, force: true });
  }

  async function begin(sessionId: string): Promise<void> {
    // Before anything is recorded: it stays as it is until it is taken up again.
    deps.requireConsent();
    const runId = randomUUID();
    let running: RunningProcess;
    try {
      const queued = sessions.get(sessionId);
      if (queued.stopReason !== null) throw new SvcError('conflict', 'cancelled before it started');
      checkApproved(deps, queued);
      const { transport } = findCommandOfSession(deps, queued);
      checkBudget(deps, queued);
      deps.setup.checkConsent(queued);
      const { bypassesGateway } = sessions.private(sessionId);
      const auth = bypassesGateway ? 'account' : deps.agents.findAuth(queued.agent);
      const url = auth === 'gateway' ? await deps.keys.findUrl() : null;
      // A start that is made again has its line.
      if (queued.state === 'queued' && queued.pause !== null) await noteRun(deps, queued);
      const route = await persist(`the start of ${sessionId}`, () => {
        // In the transaction that starts: nothing can come in between.
        checkApproved(deps, queued);
        const logFrom = deps.logs.tail(sessionId, 0);
        const profile = approvedProfile(deps, queued);
        sessions.starting(sessionId, { runId, logFrom, transport, auth, profile });
        if (hasMoved(queued, profile)) sessions.forgetConversation(sessionId);
        const { taskId, tokenBudget } = queued;
        return url === null
          ? null
          : { url, key: deps.keys.issueKey({ sessionId, taskId, budgetTokens: tokenBudget }) };
      });
      const placement = await place(deps, queued);
      if (queued.cwd === null && queued.continues === null) checkBase(deps, queued, placement);
      await persist(`the worktree of ${sessionId}`, () => {
        sessions.place(sessionId, placement);
        if (queued.continues !== null && queued.cwd === null) sessions.worktreeGone(queued.continues);
      });
      takeUpAgentFolder(deps, sessions.get(sessionId));
      await prepare(deps, { sessionId, runId, looks, closing: closing.signal }, placement);
      const session = sessions.get(sessionId);
      if (session.stopReason !== null) throw new SvcError('conflict', 'cancelled before it started');
      const task = tasks.get(session.taskId);
      const interruption = queued.pause?.text ?? null;
      // Making it ready may have taken minutes; the command is read once, at this moment.
      checkApproved(deps, session);
      const command = findCommandOfSession(deps, session);
      running = await launch(deps, { session, task, command, runId, placement, route, interruption });
    } catch (error) {
      if (closing.signal.aborted) return;
      const { stopReason } = sessions.get(sessionId);
      if (stopReason === null) return endings.failToStart(sessionId, error);
      return end(sessionId, verdictOf(sessions.get(sessionId), NEVER));
    }
    await recordRunning(sessionId, running);
    await follow(sessionId, runId, running);
  }

  async function recordRunning(sessionId: string, running: RunningProcess): Promise<void> {
    await persist(`the process of ${sessionId}`, () => {
      const session = sessions.get(sessionId);
      if (session.state !== 'starting') return;
      sessions.running(sessionId, running);
      tasks.start(session.taskId, sessionId);
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
  function endStopped(sessionId: string): void {
    queue.ownNext(sessionId, () => {
      // It may have ended by then.
      const { state, stopReason } = sessions.get(sessionId);
      return state === 'queued' && stopReason !== null ? () => over(sessionId, NEVER) : null;
    });
  }

  const stop: Dispatch['stop'] = (sessionId, reason, by) => {
    const session = sessions.get(sessionId);
    if (!sessions.stopping(sessionId, reason, by.actor)) return;
    events.append({ kind: 'session_stopping', taskId: session.taskId, sessionId, ...by, data: { reason } });
    storage.afterCommit(lookAtStops);
    storage.afterCommit(pump);
    if (session.state !== 'queued') return;
    // What only waits has nothing to be stopped, and need not wait for room to end; but what a paused one did is kept.
    if (session.cwd === null)
      endings.recordEnd(session, verdictOf(sessions.get(sessionId), NEVER), NOTHING_KEPT, NO_FACTS);
    else storage.afterCommit(() => endStopped(sessionId));
  };

  const steps: Steps = { own, follow, over, begin, recordRunning };

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
    resume(sessionId, by) {
      deps.requireConsent();
      const { taskId, title, agent } = sessions.get(sessionId);
      const now = clock.now();
      if (!sessions.resumeAt(sessionId, now)) return false;
      tasks.pause(taskId, sessionId, now);
      events.append({ kind: 'session_resumed', taskId, sessionId, ...by, data: { title, agent } });
      storage.afterCommit(pump);
      return true;
    },
    look: pump,
    settings,
    checkProgram: (task, options) => checkProgram(deps, task, options),
    plan: (task, options) => planRun(deps, task, options, settings(task, options).profile),

    enqueue(task, decision, options) {
      deps.requireConsent();
      storage.afterCommit(pump);
      return enqueue(deps, task, decision, options);
    },

    async recover() {
      await storage.write(() => deps.approvals.bindOld(askedOfLive(deps)));
      await recover(deps, steps);
      pump();
    },

    async takeUp() {
      takeUp(deps, steps);
    },

    async stopAll() {
      await storage.write(() => {
        for (const { sessionId } of sessions.listLive()) {
          stop(sessionId, 'cancelled', { actor: 'svc', via: 'engine' });
        }
      });
      // Queued ones have ended in that transaction; what runs ends now.
      await queue.settled();
    },

    async close() {
      closing.abort();
      queue.close();
      processes.close();
      await queue.settled();
    },
  };
}

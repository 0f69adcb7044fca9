import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Planner } from '../../board/plan.ts';
import type { Dispatch } from '../../board/workflow/index.ts';
import type { Session } from '../../bus/sessions/index.ts';
import { asSvcError, SvcError } from '../../errors.ts';
import type { RunningProcess } from '../processes/index.ts';
import { launch, place, runDir } from './begin.ts';
import type { DispatchDeps } from './context.ts';
import { type Kept, keepWork, NOTHING_KEPT, type Verdict, verdictOf } from './finish.ts';
import { agentFor, planRun } from './plan.ts';
import { recover, type Steps, takeUp } from './recover.ts';
import { supervise } from './supervise.ts';

export {
  type AgentChoice,
  type Agents,
  type AgentsConfig,
  createAgents,
  type ProjectChoice,
} from './agents.ts';
export type { DispatchDeps, DispatchPaths, Log } from './context.ts';
export type { Kept, Verdict } from './finish.ts';
export { createSessionLogs, type SessionLogs } from './logs.ts';

export interface Dispatcher extends Dispatch, Planner {
  /** Settles what an earlier host left behind, then starts what waits. */
  recover(): Promise<void>;
  readonly cap: number;
  /** Takes up live sessions whose supervision failed. */
  takeUp(): Promise<void>;
  /** Cancels every live session and waits until nothing of them runs. */
  stopAll(): Promise<void>;
  /** Lets go of the workers, which go on by themselves; a later host adopts them. */
  close(): Promise<void>;
}

/** Owns the way of a session from queued to ended. One host, one dispatcher. */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { storage, sessions, tasks, events, processes, log } = deps;
  /** Sessions that this host is working on, queued ones not among them. */
  const active = new Map<string, Promise<void>>();
  const closing = new AbortController();
  /** Looks of the running supervisors, for when a stop was asked for. */
  const looks = new Set<() => void>();
  /** Set inside a transaction when it queues or stops a session; acted on after the commit. */
  let hasWork = false;

  /** What happened has happened: a write about it is tried until it succeeds or the host closes. */
  async function persist<T>(what: string, work: () => T): Promise<T> {
    for (let pause = 250; ; pause = Math.min(pause * 2, 10_000)) {
      try {
        return await storage.write(work);
      } catch (error) {
        const { code, message } = asSvcError(error);
        if ((code !== 'storage_full' && code !== 'storage_failed') || closing.signal.aborted) throw error;
        log.error({ error: message }, `${what} is not saved yet; trying again`);
        await delay(pause, undefined, { signal: closing.signal });
      }
    }
  }

  /** Inside `storage.write`. The first end counts. */
  function recordEnd(session: Session, verdict: Verdict, kept: Kept): void {
    const { sessionId, taskId, decisionId, title, agent, project, branch } = session;
    if (!sessions.end(sessionId, { ...verdict, ...kept })) return;
    tasks.end(taskId, ['assigned', 'running'], {
      status: verdict.sealed ? 'done' : 'failed',
      exitCode: verdict.exitCode,
      failure: verdict.failure,
    });
    const about = { taskId, decisionId, sessionId, via: 'engine' };
    events.append({
      ...about,
      kind: verdict.sealed ? 'sealed' : 'failed',
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

  async function end(sessionId: string, verdict: Verdict): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = await keepWork(deps, session);
    await persist(`the end of ${sessionId}`, () => recordEnd(session, verdict, kept));
    log.info({ session: sessionId, task: session.taskId, failure: verdict.failure?.code }, 'session ended');
  }

  /** From a running process to the end of the session. */
  async function follow(sessionId: string, runId: string, running: RunningProcess): Promise<void> {
    const exit = await supervise(deps, { sessionId, runId, running, looks, closing: closing.signal });
    if (exit === null) return;
    const { survivors } = await processes.sweep(runId, running.pidStart);
    if (survivors.length > 0)
      log.error({ session: sessionId, survivors }, 'processes of the worker could not be ended');
    await end(sessionId, verdictOf(sessions.get(sessionId), exit));
    await rm(runDir(deps, sessionId, runId), { recursive: true, force: true });
  }

  async function failToStart(sessionId: string, error: unknown): Promise<void> {
    const { code, message, hint } = asSvcError(error);
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

  async function begin(sessionId: string): Promise<void> {
    const runId = randomUUID();
    let running: RunningProcess;
    try {
      const queued = sessions.get(sessionId);
      if (queued.stopReason !== null) throw new SvcError('conflict', 'cancelled before it started');
      await persist(`the start of ${sessionId}`, () =>
        sessions.starting(sessionId, {
          runId,
          logFrom: 0,
          transport: 'subprocess',
          auth: 'account',
          profile: '',
        }),
      );
      const placement = await place(deps, queued);
      await persist(`the worktree of ${sessionId}`, () => sessions.place(sessionId, placement));
      const session = sessions.get(sessionId);
      if (session.stopReason !== null) throw new SvcError('conflict', 'cancelled before it started');
      running = await launch(deps, session, tasks.get(session.taskId), runId, placement);
    } catch (error) {
      if (closing.signal.aborted) return;
      const { stopReason } = sessions.get(sessionId);
      if (stopReason === null) return failToStart(sessionId, error);
      return end(sessionId, verdictOf(sessions.get(sessionId), { code: null, signal: null }));
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

  /** Runs `work` as the session's one owner in this host. */
  function own(sessionId: string, work: () => Promise<void>): void {
    if (active.has(sessionId)) return;
    const running = work()
      .catch((error: unknown) => {
        if (closing.signal.aborted) return;
        log.error(
          { session: sessionId, error: asSvcError(error).message },
          'the session is stuck until it is taken up again',
        );
      })
      .finally(() => {
        active.delete(sessionId);
        pump();
      });
    active.set(sessionId, running);
  }

  function pump(): void {
    if (closing.signal.aborted) return;
    const room = deps.cap - active.size;
    if (room <= 0) return;
    for (const { sessionId } of sessions.list({ state: 'queued', limit: room }))
      own(sessionId, () => begin(sessionId));
  }

  storage.onCommit(() => {
    if (!hasWork) return;
    hasWork = false;
    for (const look of looks) look();
    pump();
  });

  const stop: Dispatch['stop'] = (sessionId, reason, by) => {
    const session = sessions.get(sessionId);
    if (!sessions.stopping(sessionId, reason, by.actor)) return;
    events.append({ kind: 'session_stopping', taskId: session.taskId, sessionId, ...by, data: { reason } });
    hasWork = true;
    // What only waits has nothing to be stopped, and need not wait for room to end.
    if (session.state === 'queued') {
      const never = { code: null, signal: null };
      recordEnd(session, verdictOf(sessions.get(sessionId), never), NOTHING_KEPT);
    }
  };

  const steps: Steps = { own, follow, end, begin, recordRunning };

  return {
    cap: deps.cap,
    stop,
    plan: (task, options) => planRun(deps, task, options),

    enqueue(task, decision, options) {
      const agent = agentFor(deps, task);
      deps.agents.template(agent);
      deps.agents.folder(task.project);
      const { timeoutSec, idleTimeoutSec } = deps.timeouts();
      const session = sessions.create({
        taskId: task.taskId,
        decisionId: decision.decisionId,
        title: task.title,
        agent,
        project: deps.agents.projectId(task.project),
        inplace: options.inplace ?? false,
        keepWorktree: options.keepWorktree ?? false,
        base: options.base ?? null,
        name: options.name ?? null,
        timeoutSec: options.timeoutSec ?? task.timeoutSec ?? timeoutSec,
        idleTimeoutSec,
        priority: task.priority,
        continues: null,
        tokenBudget: null,
        parent: options.parent ?? null,
        callKey: options.callKey ?? null,
      });
      events.append({
        kind: 'dispatched',
        taskId: task.taskId,
        decisionId: decision.decisionId,
        sessionId: session.sessionId,
        actor: decision.decidedBy,
        via: decision.decidedVia,
        data: {
          title: task.title,
          agent,
          project: task.project,
          ...(options.force ? { ledgerForced: true, detail: 'passed the ledger gate by force' } : {}),
        },
      });
      hasWork = true;
      return session;
    },

    async recover() {
      await recover(deps, steps);
      pump();
    },

    async takeUp() {
      takeUp(deps, steps);
    },

    async stopAll() {
      await storage.write(() => {
        for (const { sessionId } of sessions.list({ live: true, limit: 100_000 })) {
          stop(sessionId, 'cancelled', { actor: 'svc', via: 'engine' });
        }
      });
      // Queued ones have ended in that transaction; what runs ends now.
      await Promise.allSettled(active.values());
    },

    async close() {
      closing.abort();
      processes.close();
      await Promise.allSettled(active.values());
    },
  };
}

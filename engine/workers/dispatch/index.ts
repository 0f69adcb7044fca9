import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Planner } from '../../board/plan.ts';
import type { Dispatch } from '../../board/workflow/index.ts';
import type { Session } from '../../bus/sessions/index.ts';
import { rfc3339 } from '../../clock.ts';
import { asSvcError, SvcError } from '../../errors.ts';
import type { By } from '../../operation.ts';
import type { ExitResult, RunningProcess } from '../processes/index.ts';
import { NO_FACTS, type StreamFacts } from '../streams/stream.ts';
import { checkBudget } from './budget.ts';
import { readerFor } from './command.ts';
import { seatOfRun } from './confined.ts';
import type { DispatchDeps } from './context.ts';
import { type Kept, keepWork, NOTHING_KEPT, type Verdict, verdictOf } from './finish.ts';
import { logFile, runDir } from './folders.ts';
import { createHearing, type Hearing } from './hear.ts';
import { launch } from './launch.ts';
import { nextOf } from './order.ts';
import { type Pause, pauseOf } from './pause.ts';
import { place } from './place.ts';
import { agentFor, planRun } from './plan.ts';
import { prepare } from './prepare.ts';
import { recover, type Steps, takeUp } from './recover.ts';
import { supervise } from './supervise.ts';
import { ofThisRun } from './usage.ts';

export {
  type AgentChoice,
  type Agents,
  type AgentsConfig,
  createAgents,
  type ProjectChoice,
} from './agents.ts';
export { type Circuit, type Circuits, createCircuits } from './circuit.ts';
export { readerFor } from './command.ts';
export type { DispatchDeps, DispatchPaths, Log, RunKeys } from './context.ts';
export type { Kept, Verdict } from './finish.ts';
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

/** Who works on a session. */
interface Owner {
  agent: string;
  project: string | null;
  hearing: Hearing | null;
  done: Promise<void>;
}

const NEVER: ExitResult = { code: null, signal: null };
const MIN_WAKE_MS = 50;
const MAX_WAKE_MS = 30_000;

/** Owns the way of a session from queued to ended. One host, one dispatcher. */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { storage, sessions, tasks, events, processes, clock, log } = deps;
  /** Sessions that this host is working on, queued ones not among them. */
  const active = new Map<string, Owner>();
  const settled = () => Promise.allSettled([...active.values()].map(({ done }) => done));
  const closing = new AbortController();
  /** Looks of the running supervisors, for when a stop was asked for. */
  const looks = new Set<() => void>();
  /** Set inside a transaction when it queues or stops a session; acted on after the commit. */
  let hasWork = false;
  /** Paused ones that were stopped in the transaction under way. */
  const dropped: string[] = [];
  let wake: NodeJS.Timeout | undefined;

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
  function recordEnd(session: Session, verdict: Verdict, kept: Kept, facts: StreamFacts): void {
    const { sessionId, taskId, decisionId, title, agent, project, branch } = session;
    if (!sessions.end(sessionId, { ...verdict, ...kept })) return;
    sessions.heard(sessionId, facts);
    deps.keys.revoke(sessionId);
    deps.circuits.record(agent, verdict.failure);
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

  async function end(sessionId: string, verdict: Verdict, facts: StreamFacts = NO_FACTS): Promise<void> {
    const session = sessions.get(sessionId);
    const kept = await keepWork(deps, session);
    await persist(`the end of ${sessionId}`, () => recordEnd(session, verdict, kept, facts));
    log.info({ session: sessionId, task: session.taskId, failure: verdict.failure?.code }, 'session ended');
  }

  /** The worktree stays as it is, also what is not committed. False when it was stopped meanwhile. */
  function pause(session: Session, { until, code, text }: Pause, facts: StreamFacts): Promise<boolean> {
    const { sessionId, taskId, decisionId, title, agent } = session;
    return persist(`the pause of ${sessionId}`, () => {
      if (!sessions.pause(sessionId, { resumeAt: until, code, text })) return false;
      sessions.heard(sessionId, facts);
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

  /** Its process has ended, or never ran: what it said, and how it exited, make an end or a pause. */
  async function over(sessionId: string, exit: ExitResult, heard?: Hearing): Promise<void> {
    const session = sessions.get(sessionId);
    if (session.state === 'queued') return end(sessionId, verdictOf(session, exit));
    const hearing = heard ?? hearingOf(session);
    await hearing.finish();
    const facts = ofThisRun(deps, session, hearing.facts());
    const verdict = verdictOf(session, exit, facts);
    const limited = pauseOf(deps, session, verdict, facts);
    if (limited === null || !(await pause(session, limited, facts)))
      return end(sessionId, verdictOf(sessions.get(sessionId), exit, facts), facts);
    log.info({ session: sessionId, code: limited.code, until: rfc3339(limited.until) }, 'session paused');
  }

  /** From a running process to the end of the session, or to its next pause. */
  async function follow(sessionId: string, runId: string, running: RunningProcess): Promise<void> {
    const hearing = hearingOf(sessions.get(sessionId));
    const owner = active.get(sessionId);
    if (owner !== undefined) owner.hearing = hearing;
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
      const { transport } = deps.agents.command(queued.agent);
      checkBudget(deps, queued);
      deps.setup.check(queued);
      const url = queued.auth === 'gateway' ? await deps.keys.url() : null;
      const route = await persist(`the start of ${sessionId}`, () => {
        const logFrom = deps.logs.tail(sessionId, 0);
        sessions.starting(sessionId, { runId, logFrom, transport, profile: deps.profile() });
        const { taskId, tokenBudget } = queued;
        return url === null
          ? null
          : { url, key: deps.keys.issue({ sessionId, taskId, budgetTokens: tokenBudget }) };
      });
      const placement = await place(deps, queued);
      await persist(`the worktree of ${sessionId}`, () => {
        sessions.place(sessionId, placement);
        if (queued.continues !== null && queued.cwd === null) sessions.worktreeGone(queued.continues);
      });
      await prepare(deps, { sessionId, runId, looks, closing: closing.signal }, placement);
      const session = sessions.get(sessionId);
      if (session.stopReason !== null) throw new SvcError('conflict', 'cancelled before it started');
      const task = tasks.get(session.taskId);
      const interruption = queued.pause?.text ?? null;
      running = await launch(deps, { session, task, runId, placement, route, interruption });
    } catch (error) {
      if (closing.signal.aborted) return;
      const { stopReason } = sessions.get(sessionId);
      if (stopReason === null) return failToStart(sessionId, error);
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

  /** Runs `work` as the session's one owner in this host. */
  function own(sessionId: string, work: () => Promise<void>): void {
    if (active.has(sessionId)) return;
    const { agent, project } = sessions.get(sessionId);
    const owner: Owner = { agent, project, hearing: null, done: Promise.resolve() };
    active.set(sessionId, owner);
    owner.done = work()
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
  }

  /** Starts what may start, and looks again when a time has come. */
  function pump(): void {
    clearTimeout(wake);
    if (closing.signal.aborted) return;
    const now = clock.now();
    const room = deps.cap - active.size;
    if (room > 0) {
      // While a person is in a paused one, it waits for them.
      const entered = new Set(
        sessions
          .attached()
          .filter(({ pid, pidStart }) => processes.isAlive(pid, pidStart) !== 'dead')
          .map(({ sessionId }) => sessionId),
      );
      const waiting = sessions
        .ready(now)
        .filter(({ sessionId }) => !active.has(sessionId) && !entered.has(sessionId));
      const working = [...active.values()];
      const limits = deps.circuits.limits();
      for (const { agent } of working) {
        const limit = limits.get(agent);
        if (limit !== undefined) limits.set(agent, Math.max(0, limit - 1));
      }
      const next = nextOf(waiting, { room, working: working.map(({ project }) => project), limits });
      for (const { sessionId } of next) own(sessionId, () => begin(sessionId));
    }
    const due = Math.min(sessions.nextResume() ?? Infinity, deps.circuits.nextTrial());
    if (due === Infinity) return;
    // The machine may sleep meanwhile, or its clock be set: never trust one long timer.
    wake = setTimeout(pump, Math.min(Math.max(due - now, MIN_WAKE_MS), MAX_WAKE_MS));
    wake.unref();
  }

  storage.onCommit(() => {
    if (!hasWork) return;
    hasWork = false;
    for (const look of looks) look();
    for (const sessionId of dropped.splice(0)) own(sessionId, () => over(sessionId, NEVER));
    pump();
  });

  const stop: Dispatch['stop'] = (sessionId, reason, by) => {
    const session = sessions.get(sessionId);
    if (!sessions.stopping(sessionId, reason, by.actor)) return;
    events.append({ kind: 'session_stopping', taskId: session.taskId, sessionId, ...by, data: { reason } });
    hasWork = true;
    if (session.state !== 'queued') return;
    // What only waits has nothing to be stopped, and need not wait for room to end; but what a paused one did is kept.
    if (session.cwd === null)
      recordEnd(session, verdictOf(sessions.get(sessionId), NEVER), NOTHING_KEPT, NO_FACTS);
    else dropped.push(sessionId);
  };

  const steps: Steps = { own, follow, over, begin, recordRunning };

  return {
    cap: deps.cap,
    stop,
    drop(sessionId, by) {
      if (sessions.get(sessionId).state === 'queued') stop(sessionId, 'cancelled', by);
    },
    facts(sessionId) {
      const facts = active.get(sessionId)?.hearing?.facts() ?? null;
      return facts === null ? null : ofThisRun(deps, sessions.get(sessionId), facts);
    },
    resume(sessionId, by) {
      const { taskId, title, agent } = sessions.get(sessionId);
      const now = clock.now();
      if (!sessions.resumeAt(sessionId, now)) return false;
      tasks.pause(taskId, sessionId, now);
      events.append({ kind: 'session_resumed', taskId, sessionId, ...by, data: { title, agent } });
      hasWork = true;
      return true;
    },
    look: pump,
    plan: (task, options) => planRun(deps, task, options),

    enqueue(task, decision, options) {
      const agent = agentFor(deps, task);
      deps.agents.command(agent);
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
        continues: options.continues ?? null,
        auth: options.gatewayBypass ? 'account' : deps.agents.auth(agent),
        tokenBudget: options.tokenBudget ?? null,
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
      await settled();
    },

    async close() {
      closing.abort();
      clearTimeout(wake);
      processes.close();
      await settled();
    },
  };
}

import type { RunPlanner } from '../board/index.ts';
import type { DispatchPort } from '../board/workflow/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import type { EventKind } from '../storage/index.ts';
import type { StreamFacts } from '../workers/agents/index.ts';
import { addClaim, type Session, type SessionUsage } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { createEndings } from './endings.ts';
import { enqueueSession } from './enqueue.ts';
import { createKeepWork } from './keep-work.ts';
import { createRunLosses } from './lose-run.ts';
import { createPersist } from './persist.ts';
import { checkCommandOfRun, planRun } from './plan.ts';
import { createAheadPreparation } from './prepare-ahead.ts';
import { createQueue } from './queue.ts';
import { type RecoverySteps, takeOver } from './recover.ts';
import { createResume } from './resume-session.ts';
import { createReadSettings } from './settings.ts';
import { createStop } from './stop-session.ts';
import { createRunSupervision } from './supervise-run.ts';

export type { DispatchDeps, MachineChoice, OtherMachines, RunKeys } from './context.ts';
export { describeRun, explainSvc, quoteTask, recallEarlierRun, remindRules } from './texts/index.ts';

export interface Dispatcher extends DispatchPort, RunPlanner {
  /** Settles the state that an earlier host left behind, then starts waiting sessions. */
  recover(): Promise<void>;
  readonly cap: number;
  /**
   * Returns the facts that a running session has reported so far, without usage if the gateway counts it; null if it is
   * not running here.
   */
  facts(sessionId: string): StreamFacts | null;
  /** Returns what agents claim about the runs of a UTC day that the gateway does not count; null for nothing. */
  sumClaims(day: string): SessionUsage | null;
  /** Inside `storage.write`: resumes a paused session now. False if it is not paused. */
  resume(sessionId: string, by: CallAuthor): boolean;
  /** Resumes the sessions that were paused with this code, before their time. */
  resumePaused(code: string): Promise<void>;
  /** Resumes a session that waits for the answer to its question, inside the transaction that answers it. */
  resumeAnswered(sessionId: string): void;
  /** Checks the queue, after something other than a commit has freed a slot. */
  look(): void;
  /** Adopts live sessions whose supervision failed. */
  takeUp(): Promise<void>;
  /**
   * Gives up the runs on a machine; see `RunLosses.loseRun`.
   * @param release ends the connection to it, and so the supervision of its runs
   */
  loseRuns(runner: string, release: () => Promise<void>): Promise<void>;
  /**
   * Cancels every live session and waits until none of their processes run. Those of machines that cannot be reached
   * are stopped once they can.
   */
  stopAll(): Promise<void>;
  /** Releases the workers, which continue by themselves; a later host adopts them. */
  close(): Promise<void>;
}

/** After these a task may no longer wait for another one. The end of a run leads to a look at the queue anyway. */
const MAY_FINISH: ReadonlySet<EventKind> = new Set<EventKind>([
  'task_changed',
  'task_done',
  'worktree_promoted',
  'worktree_pruned',
]);

/** Owns the way of a session from queued to ended. One host, one dispatcher. */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { storage, events, sessions, runner } = deps;
  const closing = new AbortController();
  /** Checks the limits of running sessions, after a stop was requested. */
  const looks = new Set<() => void>();

  const persist = createPersist(deps, closing.signal);
  const endings = createEndings(deps, persist, createKeepWork(deps, looks, closing.signal));
  const losses = createRunLosses(deps, persist);
  const queue = createQueue(deps, {
    begin: (sessionId, machine) => supervision.beginSession(sessionId, machine),
    closing: closing.signal,
  });
  const { ownSession, startWaiting } = queue;
  const supervision = createRunSupervision(deps, {
    persist,
    endings,
    losses,
    looks,
    noteFacts: queue.noteFacts,
    closing: closing.signal,
  });
  const ahead = createAheadPreparation(deps);
  events.onAppend(({ kind }) => {
    if (MAY_FINISH.has(kind)) storage.afterCommit(startWaiting);
  });
  const stopSession = createStop(deps, { queue, looks, endStopped: supervision.endStopped });
  const settings = createReadSettings(deps);
  const { resume, resumePaused, resumeAnswered } = createResume(deps, startWaiting);
  const steps: RecoverySteps = {
    ...supervision,
    endPaused: supervision.endStopped,
    loseRun: losses.loseRun,
  };

  /** Gives every live session without an owner in this host an owner: at the start, and after its owner failed. */
  function takeUp(): void {
    for (const session of sessions.listLive()) {
      // A waiting one is only stopped by its end; see `stop`.
      const isGone = session.runner !== null && !deps.machines.isKnown(session.runner);
      if (session.state === 'queued' && session.stopReason === null && !isGone) continue;
      ownSession(session.sessionId, () => takeOver(deps, steps, session));
    }
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
    sumClaims: (day) => queue.listClaims().reduce(addClaim, sessions.claimedOn(day)),
    resume,
    resumePaused,
    resumeAnswered,
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
      await storage.write(() => deps.races.recover());
      takeUp();
      startWaiting();
      ahead.lookSoon();
    },

    async takeUp() {
      takeUp();
    },

    async loseRuns(runner, release) {
      const isThere = ({ state, ...session }: Session): boolean =>
        session.runner === runner && (state === 'starting' || state === 'running');
      const lost = sessions.listLive().filter(isThere);
      const facts = new Map(lost.map(({ sessionId }) => [sessionId, queue.facts(sessionId)]));
      await release();
      for (const { sessionId } of lost)
        queue.ownSessionNext(sessionId, () =>
          isThere(sessions.get(sessionId))
            ? () => losses.loseRun(sessionId, facts.get(sessionId) ?? undefined)
            : null,
        );
    },

    async stopAll() {
      await storage.write(() => {
        for (const { sessionId } of sessions.listLive()) {
          stopSession(sessionId, 'cancelled', { actor: 'svc', via: 'engine' });
        }
      });
      // Queued ones have ended in that transaction; running ones end now.
      await queue.whenSettled((machine) => machine === null || deps.machines.isReachable(machine));
    },

    async close() {
      closing.abort();
      queue.close();
      ahead.close();
      await runner.close();
      await queue.whenSettled();
    },
  };
}
export type { TextContributor } from './texts/index.ts';

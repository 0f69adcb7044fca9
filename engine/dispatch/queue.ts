import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError } from '../core/base/errors.ts';
import { settleWithin } from '../core/base/settle-within.ts';
import type { StreamFacts, StreamUsage } from '../workers/agents/index.ts';
import type { ReadySession } from '../workers/sessions/index.ts';
import { chooseNext, type WaitingRun } from './choose-next.ts';
import type { DispatchDeps } from './context.ts';
import { takeOwnUsage } from './own-usage.ts';

/** The owner of a session. */
interface Owner {
  agent: string;
  project: string | null;
  /** The machine that it works on; null for this one. */
  runner: string | null;
  /** The facts that its run has reported so far. */
  facts: StreamFacts | null;
  done: Promise<void>;
  isDone: boolean;
}

const MIN_WAKE_MS = 50;
const LONGEST_SLEEP_MS = 30_000;
const LOOK_IN_MS = 2000;

/** Sessions that this host works on, and the start of waiting ones. */
export interface RunQueue {
  /** Runs `work` as the session's one owner in this host. */
  ownSession(sessionId: string, work: () => Promise<void>): void;
  /** Runs `work` after the current owner has finished; it is chosen then, and null for none. */
  ownSessionNext(sessionId: string, work: () => (() => Promise<void>) | null): void;
  /** Starts what may start, and checks again when a time has come. */
  startWaiting(): void;
  /** Records the facts that the run of a session has reported so far. */
  noteFacts(sessionId: string, facts: StreamFacts): void;
  /**
   * Returns the facts that a running session has reported so far, without usage if the gateway counts it; null if it is
   * not running here.
   */
  facts(sessionId: string): StreamFacts | null;
  /** Returns the usage that running sessions claim so far, where the gateway does not count it. */
  listClaims(): (StreamUsage | null)[];
  /**
   * Resolves when the sessions that are being worked on have settled.
   * @param isAwaited leaves out those of other machines; asked again and again, since a machine may stop answering
   */
  whenSettled(isAwaited?: (runner: string | null) => boolean): Promise<void>;
  close(): void;
}

function hasConsent(deps: Pick<DispatchDeps, 'requireConsent'>): boolean {
  try {
    deps.requireConsent();
    return true;
  } catch {
    return false;
  }
}

const countByMachine = (working: readonly Pick<Owner, 'runner'>[]): Map<string | null, number> => {
  const counts = new Map<string | null, number>();
  for (const { runner } of working) counts.set(runner, (counts.get(runner) ?? 0) + 1);
  return counts;
};

/** Chooses the machine of each session that waits, and leaves out those that none takes. */
function placeWaiting(
  { machines }: Pick<DispatchDeps, 'machines'>,
  waiting: readonly ReadySession[],
  working: ReadonlyMap<string | null, number>,
): WaitingRun[] {
  const choice = machines.openChoice(working);
  return waiting.flatMap((session): WaitingRun[] => {
    const { sessionId, agent, project, priority, pool } = session;
    const run = { sessionId, agent, project, priority };
    if (pool === null) return [{ ...run, runner: null }];
    const chosen = choice.choose({ ...session, pool });
    if ('why' in chosen) return [];
    choice.take(chosen.runner);
    return [{ ...run, runner: chosen.runner }];
  });
}

/** Counts how many of the waiting sessions each machine has room for: those that were placed on it. */
function countRooms(waiting: readonly WaitingRun[], here: number): Map<string | null, number> {
  const rooms = countByMachine(waiting);
  return rooms.set(null, here);
}

export function createQueue(
  deps: DispatchDeps,
  {
    begin,
    closing,
  }: { begin(sessionId: string, runner: string | null): Promise<void>; closing: AbortSignal },
): RunQueue {
  const { sessions, clock, log } = deps;
  /** Excludes queued ones. */
  const active = new Map<string, Owner>();
  const timer = createDueTimer({ clock, onDue: startWaiting, longestSleepMs: LONGEST_SLEEP_MS });

  function ownSession(
    sessionId: string,
    work: () => Promise<void>,
    runner = sessions.findRunner(sessionId),
  ): void {
    if (active.has(sessionId)) return;
    const { agent, project } = sessions.get(sessionId);
    const owner: Owner = { agent, project, runner, facts: null, done: Promise.resolve(), isDone: false };
    active.set(sessionId, owner);
    owner.done = work()
      .catch((error: unknown) => {
        if (closing.aborted) return;
        log.error(
          { session: sessionId, error: asSvcError(error).message },
          'the session is stuck until it is picked up again',
        );
      })
      .finally(() => {
        owner.isDone = true;
        active.delete(sessionId);
        startWaiting();
      });
  }

  function startWaiting(): void {
    timer.sleepUntil(null);
    // Sessions that wait for consent are picked up once it is given.
    if (closing.aborted || !hasConsent(deps)) return;
    const now = clock.now();
    const working = [...active.values()];
    const busy = countByMachine(working);
    const room = deps.cap - (busy.get(null) ?? 0);
    /** No event reports the end of a visitor's process. */
    let unseen = Infinity;
    const hasRoom = room > 0;
    const ready = hasRoom || deps.machines.hasAny() ? sessions.ready(now, { onlyElsewhere: !hasRoom }) : [];
    if (ready.length > 0) {
      // A paused session waits while a person is in it.
      const visited = deps.visitors.listVisited();
      const waiting = placeWaiting(
        deps,
        ready.filter(({ sessionId }) => !active.has(sessionId) && !visited.has(sessionId)),
        busy,
      );
      if (ready.some(({ sessionId }) => visited.has(sessionId))) unseen = now + LOOK_IN_MS;
      const limits = deps.circuits.listLimits();
      for (const { agent } of working) {
        const limit = limits.get(agent);
        if (limit !== undefined) limits.set(agent, Math.max(0, limit - 1));
      }
      const next = chooseNext(waiting, {
        rooms: countRooms(waiting, room),
        working: working.map(({ project }) => project),
        limits,
      });
      for (const { sessionId, runner } of next) ownSession(sessionId, () => begin(sessionId, runner), runner);
    }
    const due = Math.min(sessions.nextResume(now) ?? Infinity, deps.circuits.findNextTrial(now), unseen);
    timer.sleepUntil(due, MIN_WAKE_MS);
  }

  function ownSessionNext(sessionId: string, work: () => (() => Promise<void>) | null): void {
    const owner = active.get(sessionId);
    if (owner !== undefined) {
      void owner.done.then(() => ownSessionNext(sessionId, work));
      return;
    }
    const wanted = closing.aborted ? null : work();
    if (wanted !== null) ownSession(sessionId, wanted);
  }

  function readFacts(sessionId: string): StreamFacts | null {
    const facts = active.get(sessionId)?.facts ?? null;
    const session = facts === null ? null : sessions.get(sessionId);
    // They are recorded at the end, and must not be counted twice.
    if (facts === null || session === null || session.state === 'queued' || session.state === 'ended')
      return null;
    const own = takeOwnUsage(deps, session, facts);
    return own.usage !== null && sessions.isCounted(sessionId) ? { ...own, usage: null } : own;
  }

  return {
    ownSession,
    ownSessionNext,
    startWaiting,
    noteFacts(sessionId, facts) {
      const owner = active.get(sessionId);
      if (owner !== undefined) owner.facts = facts;
    },
    facts: readFacts,
    listClaims: () => [...active.keys()].map((id) => readFacts(id)?.usage ?? null),
    async whenSettled(isAwaited = () => true) {
      const listAwaited = (owners: Iterable<Owner>): Owner[] =>
        [...owners].filter(({ isDone, runner }) => !isDone && isAwaited(runner));
      for (let left = listAwaited(active.values()); left.length > 0; left = listAwaited(left))
        await settleWithin(LOOK_IN_MS, Promise.allSettled(left.map(({ done }) => done)));
    },
    close: timer.close,
  };
}

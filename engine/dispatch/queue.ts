import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { StreamFacts, StreamUsage } from '../workers/agents/index.ts';
import { chooseNext } from './choose-next.ts';
import type { DispatchDeps } from './context.ts';
import { takeOwnUsage } from './own-usage.ts';

/** The owner of a session. */
interface Owner {
  agent: string;
  project: string | null;
  /** The facts that its run has reported so far. */
  facts: StreamFacts | null;
  done: Promise<void>;
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
  /** Resolves when no session is being worked on any more. */
  whenSettled(): Promise<unknown>;
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

export function createQueue(
  deps: DispatchDeps,
  { begin, closing }: { begin(sessionId: string): Promise<void>; closing: AbortSignal },
): RunQueue {
  const { sessions, clock, log } = deps;
  /** Excludes queued ones. */
  const active = new Map<string, Owner>();
  const timer = createDueTimer({ clock, onDue: startWaiting, longestSleepMs: LONGEST_SLEEP_MS });

  function ownSession(sessionId: string, work: () => Promise<void>): void {
    if (active.has(sessionId)) return;
    const { agent, project } = sessions.get(sessionId);
    const owner: Owner = { agent, project, facts: null, done: Promise.resolve() };
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
        active.delete(sessionId);
        startWaiting();
      });
  }

  function startWaiting(): void {
    timer.sleepUntil(null);
    // Sessions that wait for consent are picked up once it is given.
    if (closing.aborted || !hasConsent(deps)) return;
    const now = clock.now();
    const room = deps.cap - active.size;
    /** No event reports the end of a visitor's process. */
    let unseen = Infinity;
    if (room > 0) {
      // A paused session waits while a person is in it.
      const visited = deps.visitors.listVisited();
      const ready = sessions.ready(now);
      const waiting = ready
        .filter(({ sessionId }) => !active.has(sessionId) && !visited.has(sessionId))
        .map(({ sessionId, agent, project, priority }) => ({
          sessionId,
          agent,
          project,
          priority,
          runner: null,
        }));
      if (ready.some(({ sessionId }) => visited.has(sessionId))) unseen = now + LOOK_IN_MS;
      const working = [...active.values()];
      const limits = deps.circuits.listLimits();
      for (const { agent } of working) {
        const limit = limits.get(agent);
        if (limit !== undefined) limits.set(agent, Math.max(0, limit - 1));
      }
      const next = chooseNext(waiting, {
        rooms: new Map([[null, room]]),
        working: working.map(({ project }) => project),
        limits,
      });
      for (const { sessionId } of next) ownSession(sessionId, () => begin(sessionId));
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
    whenSettled: () => Promise.allSettled([...active.values()].map(({ done }) => done)),
    close: timer.close,
  };
}

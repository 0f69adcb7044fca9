import type { Clock } from '../core/base/clock.ts';

/** A session that waits for another machine. */
export interface WaitingSession {
  sessionId: string;
  pool: string;
  /** Why none takes it, a clause. */
  why: string;
}

/** How long a session may wait before a person is notified, ms. */
const PATIENCE_MS = 600_000;
/** How long it may wait before more machines are started, ms. */
const START_MS = 30_000;
const LOOK_MS = 5000;

/**
 * Notifies a person once about each session that has waited for another machine for ten minutes, and reports all that
 * have waited for half a minute.
 */
export function watchWaiting({
  clock,
  listWaiting,
  onLate,
  onWanted,
}: {
  clock: Clock;
  listWaiting(): readonly WaitingSession[];
  onLate(session: WaitingSession): void;
  /** Called while sessions wait for a machine of a pool. */
  onWanted(pool: string, count: number): void;
}): { look(): void; close(): void } {
  /** When each was seen waiting first, by the monotonic clock. */
  const seen = new Map<string, number>();
  const late = new Set<string>();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  function look(): void {
    const waiting = listWaiting();
    const now = clock.monotonic();
    const ids = new Set(waiting.map(({ sessionId }) => sessionId));
    for (const all of [seen, late]) for (const id of [...all.keys()]) if (!ids.has(id)) all.delete(id);
    const wanted = new Map<string, number>();
    for (const session of waiting) {
      const { sessionId, pool } = session;
      const since = seen.get(sessionId) ?? now;
      seen.set(sessionId, since);
      if (now - since >= START_MS) wanted.set(pool, (wanted.get(pool) ?? 0) + 1);
      if (now - since < PATIENCE_MS || late.has(session.sessionId)) continue;
      late.add(session.sessionId);
      onLate(session);
    }
    for (const [pool, count] of wanted) onWanted(pool, count);
  }

  return { look, close: () => clearInterval(timer) };
}

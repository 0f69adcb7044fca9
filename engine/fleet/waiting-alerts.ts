import type { Clock } from '../core/base/clock.ts';

/** A session that waits for another machine. */
export interface WaitingSession {
  sessionId: string;
  /** Why none takes it, a clause. */
  why: string;
}

/** How long a session may wait before a person is notified, ms. */
const PATIENCE_MS = 600_000;
const LOOK_MS = 60_000;

/** Notifies a person once about each session that has waited for another machine for ten minutes. */
export function watchWaiting({
  clock,
  listWaiting,
  onLate,
}: {
  clock: Clock;
  listWaiting(): readonly WaitingSession[];
  onLate(session: WaitingSession): void;
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
    for (const session of waiting) {
      const since = seen.get(session.sessionId) ?? now;
      seen.set(session.sessionId, since);
      if (now - since < PATIENCE_MS || late.has(session.sessionId)) continue;
      late.add(session.sessionId);
      onLate(session);
    }
  }

  return { look, close: () => clearInterval(timer) };
}

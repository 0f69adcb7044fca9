import { setImmediate as nextTurn } from 'node:timers/promises';
import { rfc3339 } from '../../core/base/clock.ts';
import type { EventLog, Storage } from '../../storage/index.ts';

/** Sessions whose promotion has met a conflict, which only the event log records. */
export interface ConflictCounts {
  /** @param session its number */
  has(session: number): boolean;
  /** Reads new entries of the log. */
  readOn(): Promise<void>;
  /** When the log starts, RFC 3339: removed entries are unknown. Null while it is empty. */
  since(): string | null;
}

/** Events per slice, then other work gets its turn. */
const SLICE = 5000;

export function createConflicts({
  storage: { db },
  events,
}: {
  storage: Pick<Storage, 'db'>;
  events: Pick<EventLog, 'lastSeq'>;
}): ConflictCounts {
  const found = db.prepare<unknown[], { session_id: number }>(
    `SELECT session_id FROM event WHERE seq > ? AND seq <= ? AND kind = 'promote_conflict' AND session_id IS NOT NULL`,
  );
  const first = db.prepare<unknown[], { seq: number; at: number }>(
    'SELECT seq, at FROM event ORDER BY seq LIMIT 1',
  );
  const sessions = new Set<number>();
  let readTo = 0;
  return {
    has: (session) => sessions.has(session),
    async readOn() {
      const last = events.lastSeq();
      readTo = Math.max(readTo, (first.get()?.seq ?? 1) - 1);
      while (readTo < last) {
        const end = Math.min(last, readTo + SLICE);
        for (const { session_id: session } of found.all(readTo, end)) sessions.add(session);
        readTo = end;
        await nextTurn();
      }
    },
    since() {
      const row = first.get();
      return row === undefined ? null : rfc3339(row.at);
    },
  };
}

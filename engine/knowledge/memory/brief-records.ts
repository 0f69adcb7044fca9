import type { Clock } from '../../core/base/clock.ts';
import type { Db } from '../../storage/index.ts';
import { type BriefRow, type MemoryBrief, toBrief } from './rows.ts';

const MOST_BRIEFS = 1000;

/** Owns the records of session briefs. Changes run inside `storage.write`. */
export function createBriefRecords(db: Db, clock: Clock) {
  const putBrief = db.prepare(`INSERT INTO memory_briefs (session_id, task_id, at, ids, bytes)
    VALUES (@sessionId, @taskId, @at, @ids, @bytes) ON CONFLICT (session_id) DO UPDATE
    SET at = excluded.at, ids = excluded.ids, bytes = excluded.bytes`);
  const dropBriefs = db.prepare(
    'DELETE FROM memory_briefs WHERE at < (SELECT at FROM memory_briefs ORDER BY at DESC LIMIT 1 OFFSET +?)',
  );
  const lastBrief = db.prepare<unknown[], BriefRow>('SELECT * FROM memory_briefs ORDER BY at DESC LIMIT 1');
  const briefOf = db.prepare<unknown[], BriefRow>('SELECT * FROM memory_briefs WHERE session_id = ?');

  return {
    /** Records the memories that a session's worker received; kept for the last thousand sessions only. */
    recordBrief(given: { sessionId: string; taskId: string; ids: readonly string[]; bytes: number }): void {
      putBrief.run({ ...given, ids: JSON.stringify(given.ids), at: clock.now() });
      dropBriefs.run(MOST_BRIEFS);
    },

    /** Returns the newest record, or the record of a session. */
    findBrief(sessionId?: string): MemoryBrief | null {
      const row = sessionId === undefined ? lastBrief.get() : briefOf.get(sessionId);
      return row === undefined ? null : toBrief(row);
    },
  };
}

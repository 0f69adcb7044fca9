import { parseId } from '../../core/base/ids.ts';
import { type DayCounts, makeDayCounts } from '../../core/link-protocol/telemetry-day.ts';
import type { Storage } from '../../storage/index.ts';
import type { CountedSession } from './count-event.ts';

/** The progress of counting. */
export interface TelemetryState {
  /** Start of counting, Unix ms; null while it is off. */
  countingSince: number | null;
  /** The last counted event. */
  countedSeq: number;
  /** The newest schema that a person has seen; 0 for none. */
  seenSchema: number;
}

/** The stored figures of a day; times are Unix ms. */
export interface TelemetryRow {
  /** UTC, `2026-11-22`. */
  day: string;
  counts: DayCounts;
  /** True if the server does not have its current figures. */
  isDue: boolean;
  sentBody: string | null;
  sentAt: number | null;
  refusedAt: number | null;
  refusedWhy: string | null;
}

interface StoredDay {
  day: string;
  counts: string;
  is_due: number;
  sent_body: string | null;
  sent_at: number | null;
  refused_at: number | null;
  refused_why: string | null;
}

const toRow = (stored: StoredDay): TelemetryRow => ({
  day: stored.day,
  counts: JSON.parse(stored.counts) as DayCounts,
  isDue: stored.is_due === 1,
  sentBody: stored.sent_body,
  sentAt: stored.sent_at,
  refusedAt: stored.refused_at,
  refusedWhy: stored.refused_why,
});

export type TelemetryRows = ReturnType<typeof createTelemetryRows>;

/** Access to the tables of telemetry. Methods that change them are called inside `storage.write`. */
export function createTelemetryRows({ db }: Pick<Storage, 'db'>) {
  const readState = db.prepare<
    unknown[],
    { counting_since: number | null; counted_seq: number; seen_schema: number }
  >('SELECT counting_since, counted_seq, seen_schema FROM telemetry');
  const putState = db.prepare(
    'INSERT OR REPLACE INTO telemetry (one, counting_since, counted_seq, seen_schema) VALUES (1, ?, ?, ?)',
  );
  const listDays = db.prepare<unknown[], StoredDay>('SELECT * FROM telemetry_day ORDER BY day');
  const readDay = db.prepare<unknown[], StoredDay>('SELECT * FROM telemetry_day WHERE day = ?');
  const putCounts = db.prepare(
    `INSERT INTO telemetry_day (day, counts, is_due) VALUES (?, ?, 1)
     ON CONFLICT (day) DO UPDATE SET counts = excluded.counts, is_due = 1, refused_at = NULL, refused_why = NULL`,
  );
  // Events counted since the body was created are due again.
  const setSent = db.prepare(
    `UPDATE telemetry_day SET sent_body = @body, sent_at = @at, refused_at = NULL, refused_why = NULL,
       is_due = iif(counts = @counts, 0, 1) WHERE day = @day`,
  );
  const setRefused = db.prepare('UPDATE telemetry_day SET refused_at = ?, refused_why = ? WHERE day = ?');
  const dropUnsent = db.prepare('DELETE FROM telemetry_day WHERE sent_at IS NULL');
  const settleSent = db.prepare('UPDATE telemetry_day SET is_due = 0 WHERE is_due = 1');
  const dropBefore = db.prepare('DELETE FROM telemetry_day WHERE day < ?');
  // The row stays: without it the day's calls through the gateway would be found, and sent, again.
  const dropSent = db.prepare(
    'UPDATE telemetry_day SET counts = ?, is_due = 0, sent_body = NULL, sent_at = NULL WHERE sent_at IS NOT NULL',
  );
  const readSession = db.prepare<unknown[], CountedSession>(
    'SELECT started_at, ended_at, tokens_in + coalesce(tokens_out, 0) AS tokens FROM session WHERE id = ?',
  );

  return {
    readState(): TelemetryState | null {
      const row = readState.get();
      return row === undefined
        ? null
        : {
            countingSince: row.counting_since,
            countedSeq: row.counted_seq,
            seenSchema: row.seen_schema,
          };
    },
    putState: ({ countingSince, countedSeq, seenSchema }: TelemetryState): void =>
      void putState.run(countingSince, countedSeq, seenSchema),
    listDays: (): TelemetryRow[] => listDays.all().map(toRow),
    readDay(day: string): TelemetryRow | null {
      const row = readDay.get(day);
      return row === undefined ? null : toRow(row);
    },
    putCounts: (day: string, counts: DayCounts): void => void putCounts.run(day, JSON.stringify(counts)),
    setSent: ({ day, counts }: TelemetryRow, body: string, at: number): void =>
      void setSent.run({ day, body, at, counts: JSON.stringify(counts) }),
    setRefused: (day: string, at: number, why: string): void => void setRefused.run(at, why, day),
    /** Drops unsent figures. */
    dropDue(): void {
      dropUnsent.run();
      settleSent.run();
    },
    dropBefore: (day: string): void => void dropBefore.run(day),
    dropSent: (): void => void dropSent.run(JSON.stringify(makeDayCounts())),
    readSession: (sessionId: string): CountedSession | null =>
      readSession.get(parseId('s', sessionId)) ?? null,
  };
}

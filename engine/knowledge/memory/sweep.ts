import type { Clock } from '../../core/base/clock.ts';
import type { Db } from '../../storage/index.ts';
import type { MemoryRow } from './rows.ts';

const DAY_MS = 86_400_000;

/** Creates the end of memories that are past their retention. */
export function createMemorySweep(
  db: Db,
  clock: Pick<Clock, 'now'>,
  retentionDays: () => Readonly<Record<string, number>>,
  /** Ends a memory, and tells of it. */
  expire: (row: MemoryRow, by: { actor: string; via: string }) => void,
) {
  const overdue = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND type = ? AND changed_at <= ?",
  );
  const anyOverdue = db.prepare<unknown[], { n: number }>(
    "SELECT 1 AS n FROM memory WHERE state = 'active' AND type = ? AND changed_at <= ? LIMIT 1",
  );

  const limits = (): [type: string, before: number][] =>
    Object.entries(retentionDays())
      .filter(([, days]) => days > 0)
      .map(([type, days]) => [type, clock.now() - days * DAY_MS]);

  return {
    /** Reports whether an active memory is past its retention. */
    isSweepDue: (): boolean => limits().some(([type, before]) => anyOverdue.get(type, before) !== undefined),

    /** Ends memories past their retention. Returns their ids. */
    sweep(by: { actor: string; via: string }): string[] {
      return limits().flatMap(([type, before]) =>
        overdue.all(type, before).map((row) => {
          expire(row, by);
          return row.id;
        }),
      );
    },
  };
}

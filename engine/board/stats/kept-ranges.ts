import type { Db } from '../../storage/index.ts';
import { decodeRange, encodeRange, type RangeSums } from './sums.ts';

/** The stored sums of ranges in which everything has ended. The database removes those whose rows change. */
export interface KeptRanges {
  /**
   * Finds the sums of a range: none for a kept one with tasks from before `from`, which have to be counted apart, and
   * undefined for one that is not kept.
   */
  find(range: number, from: number): { newest: number; sums: RangeSums | null } | undefined;
  /** Stores sums that were read in the same transaction. */
  keep(range: number, sums: RangeSums): void;
}

interface KeptRow {
  oldest: number;
  newest: number;
  sums: string | null;
  times: Buffer | null;
}

export function createKeptRanges(db: Db): KeptRanges {
  const rowOf = db.prepare<unknown[], KeptRow>(
    `SELECT oldest, newest, CASE WHEN oldest >= :from THEN sums END AS sums, CASE WHEN oldest >= :from THEN times END AS times
     FROM stats_range WHERE range = :range`,
  );
  const put = db.prepare(
    'INSERT OR REPLACE INTO stats_range (range, oldest, newest, sums, times) VALUES (?, ?, ?, ?, ?)',
  );
  return {
    find(range, from) {
      const row = rowOf.get({ range, from });
      if (row === undefined) return undefined;
      const { oldest, newest, sums, times } = row;
      return {
        newest,
        sums: sums === null || times === null ? null : decodeRange({ oldest, newest, sums, times }),
      };
    },
    keep(range, sums) {
      const stored = encodeRange(sums);
      put.run(range, sums.oldest, sums.newest, stored.sums, stored.times);
    },
  };
}

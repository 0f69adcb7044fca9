import type { Db } from '../../storage/index.ts';
import { decodeRange, encodeRange, type RangeSums } from './sums.ts';

/** The stored sums of ranges in which everything has ended. The database removes those whose rows change. */
export interface KeptRanges {
  /** Finds when the tasks of a kept range were created; undefined for one that is not kept. */
  findSpan(range: number): Pick<RangeSums, 'oldest' | 'newest'> | undefined;
  read(range: number): RangeSums;
  /** Stores sums that were read in the same transaction. */
  keep(range: number, sums: RangeSums): void;
}

interface KeptRow {
  oldest: number;
  newest: number;
  sums: string;
  times: Buffer;
}

export function createKeptRanges(db: Db): KeptRanges {
  const spanOf = db.prepare<unknown[], Pick<KeptRow, 'oldest' | 'newest'>>(
    'SELECT oldest, newest FROM stats_range WHERE range = ?',
  );
  const rowOf = db.prepare<unknown[], KeptRow>(
    'SELECT oldest, newest, sums, times FROM stats_range WHERE range = ?',
  );
  const put = db.prepare(
    'INSERT OR REPLACE INTO stats_range (range, oldest, newest, sums, times) VALUES (?, ?, ?, ?, ?)',
  );
  return {
    findSpan: (range) => spanOf.get(range),
    read: (range) => decodeRange(rowOf.get(range)!),
    keep(range, sums) {
      const stored = encodeRange(sums);
      put.run(range, sums.oldest, sums.newest, stored.sums, stored.times);
    },
  };
}

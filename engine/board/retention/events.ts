import type { Storage } from '../../storage/index.ts';
import { defineRetentionKind, type RemovableItem, type RetentionKind } from './kind.ts';

const AT_ONCE = 500;

interface EventPart {
  seq: number;
  is_kept: number;
  bytes: number;
}

/** Old events, except events of unfinished tasks. The newest event stays: the next number follows it. */
export function eventRetention({ db }: Pick<Storage, 'db'>): RetentionKind {
  const page = db.prepare<unknown[], EventPart>(`SELECT e.seq, length(e.data) + 60 AS bytes,
      EXISTS (SELECT 1 FROM task t WHERE t.id = e.task_id AND t.status NOT IN ('done', 'failed')) AS is_kept
    FROM event e WHERE e.seq > ? AND e.seq < ? ORDER BY e.seq LIMIT ${AT_ONCE}`);
  // Events are ordered by time, except after a clock change.
  const firstAfter = db.prepare<unknown[], { seq: number; at: number }>(
    'SELECT seq, at FROM event WHERE seq >= ? ORDER BY seq LIMIT 1',
  );
  const bounds = db.prepare<unknown[], { first: number | null; last: number | null }>(
    'SELECT min(seq) AS first, max(seq) AS last FROM event',
  );
  const remove = db.prepare('DELETE FROM event WHERE seq = ?');

  /** Finds the first event that is not older, by bisection. */
  function findEnd(cutoff: number): number {
    const { first, last } = bounds.get() ?? { first: null, last: null };
    if (first === null || last === null) return 0;
    let [low, high] = [first, last];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = firstAfter.get(middle);
      if (found !== undefined && found.at < cutoff) low = found.seq + 1;
      else high = middle;
    }
    return Math.min(low, last);
  }

  return defineRetentionKind<number>({
    key: 'events',
    label: 'events',
    async *find(cutoff) {
      const end = findEnd(cutoff);
      for (let after = 0; ; ) {
        const rows = page.all(after, end);
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.seq;
        const found = rows.filter(({ is_kept }) => is_kept === 0);
        yield found.map(({ seq, bytes }): RemovableItem<number> => ({ item: seq, bytes }));
      }
    },
    async remove(part, _cutoff, writer) {
      await writer.writeEach(part, ({ item }) => remove.run(item));
      return part;
    },
  });
}

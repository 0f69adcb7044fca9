import { cursorError } from '../../core/api/cursor.ts';
import type { Db } from '../../storage/index.ts';
import type { MemoryTable } from './memory-table.ts';
import { normalizeTitle } from './memory-table.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';

/** The rows after a given row of a list, newest first. */
const AFTER = '(changed_at, number) < (?, ?)';
const NOT_AFTER = '(changed_at, number) >= (?, ?)';
const NEWER_THAN_ALL = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

/** Finds the active rows of a type and title, except one, oldest first. */
export type FindSameTitle = (type: string, titleKey: string, except: string) => MemoryRow[];

export function prepareSameTitle(db: Db): FindSameTitle {
  const sameTitle = db.prepare<unknown[], MemoryRow>(
    // With a bare ORDER BY, SQLite would read all memories of the type in that order.
    "SELECT * FROM memory WHERE state = 'active' AND type = ? AND title_key = ? AND id <> ? ORDER BY +changed_at",
  );
  return (type, titleKey, except) => sameTitle.all(type, titleKey, except);
}

/** Lists and counts memories. */
export function createMemoryLists(
  db: Db,
  { find, resolve }: Pick<MemoryTable, 'find' | 'resolve'>,
  findSameTitle: FindSameTitle,
) {
  const conflicting = db.prepare<
    unknown[],
    { type: string; title_key: string }
  >(`SELECT type, title_key FROM memory
    WHERE state = 'active' GROUP BY type, title_key HAVING count(*) > 1 ORDER BY max(changed_at) DESC LIMIT +?`);
  const newest = db.prepare<unknown[], MemoryRow>(
    `SELECT * FROM memory WHERE state = 'active' AND ${AFTER} ORDER BY changed_at DESC, number DESC LIMIT +?`,
  );
  const newestOf = db.prepare<unknown[], MemoryRow>(
    `SELECT * FROM memory WHERE state = 'active' AND ${AFTER} AND type = ?
     ORDER BY changed_at DESC, number DESC LIMIT +?`,
  );
  const unreviewed = db.prepare<unknown[], MemoryRow>(
    `SELECT * FROM memory WHERE state = 'active' AND unreviewed IS NOT NULL AND number > ? ORDER BY number LIMIT +?`,
  );
  const countActive = db.prepare<unknown[], { n: number }>(
    "SELECT coalesce(sum(n), 0) AS n FROM state_count WHERE of = 'memory' AND state = coalesce(?, state)",
  );
  const countTo = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM memory WHERE state = 'active' AND ${NOT_AFTER}`,
  );
  const countToOf = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM memory WHERE state = 'active' AND ${NOT_AFTER} AND type = ?`,
  );
  const countUnreviewed = db.prepare<unknown[], { n: number }>(
    "SELECT count(*) AS n FROM memory WHERE state = 'active' AND unreviewed IS NOT NULL",
  );

  /** Returns the row that a cursor names, in any state. Throws `usage`. */
  function findCursor(cursor: string | undefined): MemoryRow | undefined {
    if (cursor === undefined) return undefined;
    const row = find(cursor);
    if (row === undefined) throw cursorError(cursor);
    return row;
  }

  return {
    /** Returns active memories, newest first: at most `limit` after the one named by `cursor`. Throws `usage`. */
    list({ limit, type, cursor }: { limit: number; type?: string | undefined; cursor?: string | undefined }) {
      const last = findCursor(cursor);
      const after = last === undefined ? NEWER_THAN_ALL : [last.changed_at, last.number];
      return (type === undefined ? newest.all(...after, limit) : newestOf.all(...after, type, limit)).map(
        toMemory,
      );
    },

    countActive: (): number => countActive.get(null)?.n ?? 0,

    /**
     * Returns the number of rows in a list, of one type or all, after the given active one. It reads the rows up to that
     * one, which were shown before, and not the many after it.
     */
    countAfter(id: string, type?: string): number {
      const { changed_at: at, number } = resolve(id);
      const shown = type === undefined ? countTo.get(at, number) : countToOf.get(at, number, type);
      return (countActive.get(type ?? null)?.n ?? 0) - (shown?.n ?? 0);
    },

    /** Memories that wait for a person, oldest first: at most `limit` after the one named by `cursor`. Throws `usage`. */
    listUnreviewed: ({ limit, cursor }: { limit: number; cursor?: string | undefined }): Memory[] =>
      unreviewed.all(findCursor(cursor)?.number ?? 0, limit).map(toMemory),

    /** Active memories with different text under one title, newest last in each group. */
    conflicts: (limit = 200): Memory[][] =>
      conflicting.all(limit).map(({ type, title_key }) => findSameTitle(type, title_key, '').map(toMemory)),

    countUnreviewed: (): number => countUnreviewed.get()?.n ?? 0,

    /** Other active rows of its type and title, newest last. */
    listAgainst: ({ id, type, title }: Memory): Memory[] =>
      findSameTitle(type, normalizeTitle(title), id).map(toMemory),
  };
}

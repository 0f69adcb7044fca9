import { cursorError } from '../../core/api/cursor.ts';
import type { Clock } from '../../core/base/clock.ts';
import { makeTitle } from '../../core/base/text.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { createBriefRecords } from './brief-records.ts';
import {
  cleaner,
  createMemoryTable,
  type MemoryAuthor,
  makeMemoryId,
  type NewRow,
  normalizeTitle,
} from './memory-table.ts';
import { forgetContent } from './okf/concept.ts';
import { createConcepts } from './okf/concepts.ts';
import type { WritingDeps } from './okf/written.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';

/** A memory to store. */
export interface NewMemory {
  text: string;
  title?: string | undefined;
  type?: string | undefined;
  tags?: readonly string[] | undefined;
  source?: string | undefined;
}

export interface RememberResult {
  memory: Memory;
  /** False for an exact repeat of an active row, which is returned instead. */
  isNew: boolean;
  /** Kinds of secrets that were removed. */
  redacted: string[];
  /** Ids of active rows of the same type and title with different text. */
  conflicts: string[];
}

export interface MemoryStoreDeps extends WritingDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;

const DAY_MS = 86_400_000;
export const DEFAULT_TYPE = 'fact';

/** The rows after a given row of a list, newest first. */
const AFTER = '(changed_at, number) < (?, ?)';
const NEWER_THAN_ALL = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

/** Owns the rows of the memory and their search data. Changes run inside `storage.write`. */
export function createMemoryStore({ storage, events, clock, ...writing }: MemoryStoreDeps) {
  const { db } = storage;
  const { retentionDays } = writing;
  const table = createMemoryTable(db, clock);
  const { words, resolve, resolveActive, insertRow, endRow } = table;
  const sameTitle = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND type = ? AND title_key = ? AND id <> ? ORDER BY changed_at",
  );
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
    "SELECT count(*) AS n FROM memory WHERE state = 'active'",
  );
  const countFollowing = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM memory WHERE state = 'active' AND ${AFTER} AND type = coalesce(?, type)`,
  );
  const countUnreviewed = db.prepare<unknown[], { n: number }>(
    "SELECT count(*) AS n FROM memory WHERE state = 'active' AND unreviewed IS NOT NULL",
  );
  const overdue = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND type = ? AND changed_at <= ?",
  );
  const anyOverdue = db.prepare<unknown[], { n: number }>(
    "SELECT 1 AS n FROM memory WHERE state = 'active' AND type = ? AND changed_at <= ? LIMIT 1",
  );
  const markKept = db.prepare(
    'UPDATE memory SET unreviewed = NULL, kept_by = ?, kept_at = ? WHERE number = ?',
  );

  function tell(
    memory: Pick<Memory, 'id' | 'type'>,
    change: string,
    by: { actor: string; via: string },
  ): void {
    events.append({ kind: 'memory_changed', ...by, data: { id: memory.id, type: memory.type, change } });
  }

  function remember(
    wanted: NewMemory,
    author: MemoryAuthor,
    by: { actor: string; via: string },
    okf: Pick<NewRow, 'okfPath' | 'okfFrontmatter'> = { okfPath: null, okfFrontmatter: null },
  ): RememberResult {
    const redacted = new Set<string>();
    const clean = cleaner(redacted);
    const text = clean(wanted.text);
    const type = wanted.type ?? DEFAULT_TYPE;
    const title = clean(wanted.title ?? makeTitle(text));
    const tags = [...new Set((wanted.tags ?? []).map(clean))];
    const source = wanted.source === undefined ? null : clean(wanted.source);
    const same = table.findActive(type, title, text);
    if (same !== undefined)
      return { memory: toMemory(same), isNew: false, redacted: [...redacted], conflicts: [] };
    const row = insertRow(
      { id: makeMemoryId(), type, title, text, tags, source, changedAt: clock.now(), ...okf },
      author,
    );
    words.add(row);
    tell(row, 'remembered', by);
    return {
      memory: toMemory(row),
      isNew: true,
      redacted: [...redacted],
      conflicts: sameTitle.all(type, row.title_key, row.id).map((each) => each.id),
    };
  }

  /** Records that a person has reviewed it: it may enter briefs. */
  function keepMemory(id: string, by: { actor: string; via: string }): Memory {
    const row = resolveActive(id);
    if (row.unreviewed !== null) {
      markKept.run(by.actor, clock.now(), row.number);
      tell(row, 'kept', by);
    }
    return toMemory(resolve(row.id));
  }

  const limits = (): [type: string, before: number][] =>
    Object.entries(retentionDays())
      .filter(([, days]) => days > 0)
      .map(([type, days]) => [type, clock.now() - days * DAY_MS]);

  /** Returns the row that a cursor names, in any state. Throws `usage`. */
  function findCursor(cursor: string | undefined): MemoryRow | undefined {
    if (cursor === undefined) return undefined;
    const row = table.find(cursor);
    if (row === undefined) throw cursorError(cursor);
    return row;
  }

  return {
    ...createConcepts({ db, table, events, clock, writing }),
    ...createBriefRecords(db, clock),
    remember,

    resolve: (id: string): Memory => toMemory(resolve(id)),

    /** Returns active memories, newest first: at most `limit` after the one named by `cursor`. Throws `usage`. */
    list({ limit, type, cursor }: { limit: number; type?: string | undefined; cursor?: string | undefined }) {
      const last = findCursor(cursor);
      const after = last === undefined ? NEWER_THAN_ALL : [last.changed_at, last.number];
      return (type === undefined ? newest.all(...after, limit) : newestOf.all(...after, type, limit)).map(
        toMemory,
      );
    },

    countActive: (): number => countActive.get()?.n ?? 0,

    /** Returns the number of rows in a list, of one type or all, after the given one. */
    countAfter(id: string, type?: string): number {
      const { changed_at, number } = resolve(id);
      return countFollowing.get(changed_at, number, type ?? null)?.n ?? 0;
    },

    /** Memories that wait for a person, oldest first: at most `limit` after the one named by `cursor`. Throws `usage`. */
    listUnreviewed: ({ limit, cursor }: { limit: number; cursor?: string | undefined }): Memory[] =>
      unreviewed.all(findCursor(cursor)?.number ?? 0, limit).map(toMemory),

    /** Active memories with different text under one title, newest last in each group. */
    conflicts: (limit = 200): Memory[][] =>
      conflicting.all(limit).map(({ type, title_key }) => sameTitle.all(type, title_key, '').map(toMemory)),

    forget(id: string, by: { actor: string; via: string }): Memory {
      const row = resolve(id);
      if (row.state === 'active') {
        endRow(row, 'forgotten');
        tell(row, 'forgotten', by);
      }
      return toMemory(resolve(row.id));
    },

    keep: keepMemory,

    /** Ends the others of its type and title; the remaining one counts as reviewed. */
    settle(id: string, by: { actor: string; via: string }): { memory: Memory; superseded: string[] } {
      const memory = keepMemory(id, by);
      const others = sameTitle.all(memory.type, normalizeTitle(memory.title), memory.id);
      for (const each of others) {
        endRow(each, 'superseded', memory.id);
        tell(each, 'superseded', by);
      }
      return { memory, superseded: others.map((each) => each.id) };
    },

    /** Replaces a row with a new wording in a new row. */
    edit(
      id: string,
      changes: Omit<NewMemory, 'text'> & { text?: string | undefined },
      author: MemoryAuthor,
      by: { actor: string; via: string },
    ): RememberResult {
      const row = resolveActive(id);
      const next = {
        text: changes.text ?? row.text,
        title: changes.title ?? row.title,
        type: changes.type ?? row.type,
        tags: changes.tags ?? (JSON.parse(row.tags) as string[]),
        source: changes.source ?? row.source ?? undefined,
      };
      const isReworded = next.text !== row.text;
      const okfFrontmatter =
        row.okf_frontmatter !== null && isReworded ? forgetContent(row.okf_frontmatter) : row.okf_frontmatter;
      const done = remember(next, author, by, { okfPath: row.okf_path, okfFrontmatter });
      if (done.memory.id === row.id) return done;
      endRow(row, 'superseded', done.memory.id);
      tell(row, 'superseded', by);
      return { ...done, conflicts: done.conflicts.filter((each) => each !== row.id) };
    },

    /** Other active rows of its type and title, newest last. */
    listAgainst: ({ id, type, title }: Memory): Memory[] =>
      sameTitle.all(type, normalizeTitle(title), id).map(toMemory),

    countUnreviewed: (): number => countUnreviewed.get()?.n ?? 0,

    isIndexCurrent: words.isCurrent,
    rebuildIndex: words.rebuild,

    /** Reports whether an active memory is past its retention. */
    isSweepDue: (): boolean => limits().some(([type, before]) => anyOverdue.get(type, before) !== undefined),

    /** Ends memories past their retention. Returns their ids. */
    sweep(by: { actor: string; via: string }): string[] {
      return limits().flatMap(([type, before]) =>
        overdue.all(type, before).map((row) => {
          endRow(row, 'expired');
          tell(row, 'expired', by);
          return row.id;
        }),
      );
    },
  };
}

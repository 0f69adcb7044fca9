import type { Clock } from '../../core/base/clock.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { createBriefRecords } from './brief-records.ts';
import { createMemoryLists, prepareSameTitle } from './memory-lists.ts';
import { createMemoryTable, type MemoryAuthor, normalizeTitle } from './memory-table.ts';
import { forgetContent } from './okf/concept.ts';
import { createConcepts } from './okf/concepts.ts';
import type { WritingDeps } from './okf/written.ts';
import { createRemembering, type NewMemory, type RememberResult } from './remember.ts';
import { createReplacedFinder } from './replaced.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';
import { createMemorySweep } from './sweep.ts';

export interface MemoryStoreDeps extends WritingDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;

/** Owns the rows of the memory and their search data. Changes run inside `storage.write`. */
export function createMemoryStore({ storage, events, clock, ...writing }: MemoryStoreDeps) {
  const { db } = storage;
  const table = createMemoryTable(db, clock);
  const { words, resolve, resolveActive, endRow } = table;
  const findSameTitle = prepareSameTitle(db);
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

  const findReplaced = createReplacedFinder(db);
  /** Marks what a row may replace; a reviewed memory is not marked by one that waits for a person. */
  function linkReplaced(row: MemoryRow): string[] {
    const older = findReplaced(row);
    for (const each of older)
      if (row.unreviewed === null || each.unreviewed !== null) table.markReplaced(each, row.id);
    return older.map(({ id }) => id);
  }

  const remember = createRemembering({ table, clock, findSameTitle, linkReplaced, tell });

  /** Records that a person has reviewed it: it may enter briefs, and no longer counts as replaced. */
  function keepMemory(id: string, by: { actor: string; via: string }): Memory {
    const row = resolveActive(id);
    if (row.unreviewed !== null) {
      markKept.run(by.actor, clock.now(), row.number);
      tell(row, 'kept', by);
      linkReplaced({ ...row, unreviewed: null });
    }
    table.markReplaced(row, null);
    return toMemory(resolve(row.id));
  }

  return {
    ...createConcepts({ db, table, events, clock, writing }),
    ...createBriefRecords(db, clock),
    ...createMemoryLists(db, table, findSameTitle),
    ...createMemorySweep(db, clock, writing.retentionDays, (row, by) => {
      endRow(row, 'expired');
      tell(row, 'expired', by);
    }),
    remember,

    resolve: (id: string): Memory => toMemory(resolve(id)),

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
      const others = findSameTitle(memory.type, normalizeTitle(memory.title), memory.id);
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
      const others = (ids: readonly string[]): string[] => ids.filter((each) => each !== row.id);
      return { ...done, conflicts: others(done.conflicts), replaces: others(done.replaces) };
    },

    isIndexCurrent: words.isCurrent,
    rebuildIndex: words.rebuild,
  };
}

import type { Clock } from '../../core/base/clock.ts';
import { makeTitle } from '../../core/base/text.ts';
import type { FindSameTitle } from './memory-lists.ts';
import type { MemoryTable } from './memory-table.ts';
import { cleaner, type MemoryAuthor, makeMemoryId, type NewRow } from './memory-table.ts';
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
  /** Ids of older active rows that it may replace. */
  replaces: string[];
}

export const DEFAULT_TYPE = 'fact';

/** Creates the storing of memories. */
export function createRemembering({
  table,
  clock,
  findSameTitle,
  linkReplaced,
  tell,
}: {
  table: MemoryTable;
  clock: Pick<Clock, 'now'>;
  findSameTitle: FindSameTitle;
  /** Marks the older rows that a new one may replace. Returns their ids. */
  linkReplaced(row: MemoryRow): string[];
  /** Records an event. */
  tell(memory: Pick<Memory, 'id' | 'type'>, change: string, by: { actor: string; via: string }): void;
}) {
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
      return {
        memory: toMemory(same),
        isNew: false,
        redacted: [...redacted],
        conflicts: [],
        replaces: [],
      };
    const row = table.insertRow(
      { id: makeMemoryId(), type, title, text, tags, source, changedAt: clock.now(), ...okf },
      author,
    );
    table.words.add(row);
    tell(row, 'remembered', by);
    return {
      memory: toMemory(row),
      isNew: true,
      redacted: [...redacted],
      conflicts: findSameTitle(type, row.title_key, row.id).map((each) => each.id),
      replaces: linkReplaced(row),
    };
  }

  return remember;
}

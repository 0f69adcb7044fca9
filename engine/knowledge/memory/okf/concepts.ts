import type { Clock } from '../../../core/base/clock.ts';
import type { Db, EventLog } from '../../../storage/index.ts';
import { cleaner, type MemoryAuthor, type MemoryTable, makeMemoryId } from '../memory-table.ts';
import { LONGEST_TEXT, LONGEST_TITLE, type MemoryRow } from '../rows.ts';
import type { SkippedFile } from './bundle.ts';
import { forgetContent, isSameAbout, type OkfConcept, writeFrontmatter } from './concept.ts';
import type { ExportedMemory } from './export.ts';
import { nameFile, placeConcept } from './folder-text.ts';
import type { FoundConcept } from './import.ts';
import { describeRow, type WritingDeps } from './written.ts';

/** The outcome of an import: the number of concepts, and the omissions. */
export interface ImportResult {
  added: number;
  replaced: number;
  unchanged: number;
  skipped: SkippedFile[];
  /** Kinds of secrets that were removed. */
  redacted: string[];
}

type Adopted = 'added' | 'replaced' | 'unchanged' | { skipped: string };

export interface ConceptsDeps {
  db: Db;
  table: MemoryTable;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  writing: WritingDeps;
}

/** Creates the comparison of concepts with remembered rows. */
function createConceptMatcher(table: MemoryTable, writing: WritingDeps) {
  /** Finds the row with this content: the row of that id, an active one, or an ended one with `isEnded`. */
  function findSame(
    { type, title, text }: Pick<OkfConcept, 'type' | 'title' | 'text'>,
    id: string | null,
    isEnded: boolean,
  ): MemoryRow | undefined {
    const known = id === null ? undefined : table.find(id);
    if (known !== undefined) return table.says(known, type, title, text) ? known : undefined;
    if (id !== null && isEnded) return undefined;
    return table.findActive(type, title, text) ?? (isEnded ? table.findEnded(type, title, text) : undefined);
  }

  /** Reports whether a row would be written with the same frontmatter, except for its state. */
  const saysSame = (row: MemoryRow, frontmatter: string, path: string): boolean =>
    row.okf_frontmatter === frontmatter ||
    isSameAbout(
      writeFrontmatter(describeRow(row, writing), row.okf_frontmatter, nameFile(path)),
      frontmatter,
    );

  return { findSame, saysSame };
}

/** Converts rows of the memory to concepts of a bundle and back. Changes run inside `storage.write`. */
export function createConcepts({ db, table, events, clock, writing }: ConceptsDeps) {
  const everything = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE @all OR state = 'active' ORDER BY changed_at DESC, number DESC LIMIT +@limit",
  );
  const { findSame, saysSame } = createConceptMatcher(table, writing);
  const keepOkf = db.prepare('UPDATE memory SET okf_path = ?, okf_frontmatter = ? WHERE number = ?');

  function adopt(
    found: FoundConcept,
    author: MemoryAuthor,
    { mayReplace, redacted }: { mayReplace: boolean; redacted: Set<string> },
  ): Adopted {
    const clean = cleaner(redacted);
    const title = clean(found.title);
    const text = clean(found.text);
    const { type, path, own } = found;
    if (title.length > LONGEST_TITLE)
      return { skipped: `its title has more than ${LONGEST_TITLE} characters` };
    if (text.length > LONGEST_TEXT) return { skipped: `its text has more than ${LONGEST_TEXT} characters` };
    const tags = [...new Set(found.tags.map(clean))];
    const source = found.source === null ? null : clean(found.source);
    const given = clean(found.frontmatter);
    const known = own === null ? undefined : table.find(own.id);
    const isEnded = found.status === 'deprecated';
    const same = findSame({ type, title, text }, own === null ? null : own.id, isEnded);
    if (same !== undefined) {
      // Only fields besides the content differ.
      if (!mayReplace || saysSame(same, given, path)) return 'unchanged';
      keepOkf.run(same.okf_path, given, same.number);
      return 'replaced';
    }
    if (known !== undefined && known.state !== 'active')
      return { skipped: `${known.id} is ${known.state} here` };
    if (known !== undefined && !mayReplace)
      return { skipped: `${known.id} has a different text here, and only the Chair can replace it` };
    const now = clock.now();
    const changedAt = known === undefined ? Math.min(found.changedAt ?? now, now) : now;
    const id = known === undefined && own !== null ? own.id : makeMemoryId();
    const row = table.insertRow(
      { id, type, title, text, tags, source, changedAt, okfPath: null, okfFrontmatter: null },
      {
        ...author,
        unreviewed: author.unreviewed ?? (found.status === 'draft' ? 'it was imported as a draft' : null),
      },
    );
    if (isEnded) table.endRow(row, own?.state ?? 'forgotten', own?.supersededBy ?? null, own?.endedAt ?? now);
    const ended = table.resolve(id);
    // A frontmatter without unknown content need not be kept.
    const frontmatter = known === undefined ? given : forgetContent(given);
    const usual = describeRow(ended, writing);
    const okfPath = path === placeConcept(usual) ? null : path;
    const isUsual = okfPath === null && writeFrontmatter(usual, null, '') === frontmatter;
    keepOkf.run(okfPath, isUsual ? null : frontmatter, row.number);
    const kept = table.resolve(id);
    if (!isEnded) table.words.add(kept);
    if (known === undefined) return 'added';
    table.endRow(known, 'superseded', id);
    return 'replaced';
  }

  return {
    /** The newest memories, with `all` also ended ones, in the form of a bundle. */
    listForExport: (all: boolean, limit: number): ExportedMemory[] =>
      everything.all({ all: all ? 1 : 0, limit }).map((row) => ({ row, written: describeRow(row, writing) })),

    /** Reports whether the content of a file is remembered, active or not. */
    knows(concept: FoundConcept): boolean {
      const same = findSame(concept, concept.own?.id ?? null, true) ?? findSame(concept, null, true);
      return same !== undefined && saysSame(same, concept.frontmatter, concept.path);
    },

    /**
     * Imports the concepts of a bundle. Without `mayReplace` a file never replaces a memory. A file that svc wrote
     * and no one changed has no effect.
     */
    importConcepts(
      concepts: readonly FoundConcept[],
      author: MemoryAuthor,
      mayReplace: boolean,
      by: { actor: string; via: string },
    ): ImportResult {
      const done: ImportResult = { added: 0, replaced: 0, unchanged: 0, skipped: [], redacted: [] };
      const redacted = new Set<string>();
      table.words.inBulk(() => {
        for (const each of concepts) {
          const came = adopt(each, author, { mayReplace, redacted });
          if (typeof came === 'string') done[came] += 1;
          else done.skipped.push({ path: each.path, reason: came.skipped });
        }
      });
      const { added, replaced } = done;
      if (added + replaced > 0)
        events.append({ kind: 'memory_changed', ...by, data: { change: 'imported', added, replaced } });
      return { ...done, redacted: [...redacted] };
    },
  };
}

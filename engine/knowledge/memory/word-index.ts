import type { Db } from '../../storage/index.ts';
import { indexTexts } from '../search/index.ts';
import { readDescription } from './okf/concept.ts';
import type { MemoryRow } from './rows.ts';

/** Changes if the same text would be indexed differently. */
const VERSION = '5';
/** Terms of one row that can be found by a part, and whose rows are counted. */
const LONGEST_TERM = 64;

/**
 * Owns the search data of active memories: their words by field, and the number of rows of each term. Runs inside
 * `storage.write`.
 */
export function createWordIndex(db: Db) {
  const addWords = db.prepare('INSERT INTO memory_words (rowid, title, tags, text) VALUES (?, ?, ?, ?)');
  const removeWords = db.prepare('DELETE FROM memory_words WHERE rowid = ?');
  const wordsOf = db.prepare<unknown[], { title: string; tags: string; text: string }>(
    'SELECT title, tags, text FROM memory_words WHERE rowid = ?',
  );
  const count = db.prepare<unknown[], { id: number; rows: number }>(
    'INSERT INTO memory_terms (term, rows) VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET rows = rows + excluded.rows RETURNING id, rows',
  );
  const removeTerm = db.prepare('DELETE FROM memory_terms WHERE id = ?');
  const addParts = db.prepare('INSERT INTO memory_term_parts (rowid, term) VALUES (?, ?)');
  const removeParts = db.prepare('DELETE FROM memory_term_parts WHERE rowid = ?');
  const versionOf = db
    .prepare<unknown[], string>("SELECT value FROM meta WHERE key = 'memory_index'")
    .pluck();
  const setVersion = db.prepare(
    "INSERT INTO meta (key, value) VALUES ('memory_index', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const active = db.prepare<unknown[], MemoryRow>(
    "SELECT * FROM memory WHERE state = 'active' AND number > ? ORDER BY number LIMIT 500",
  );

  const listOnce = (fields: readonly string[]): string[] => [
    '',
    ...new Set(fields.flatMap((field) => field.split(' ')).filter((term) => term !== '')),
  ];
  const hasParts = (term: string): boolean => term.length >= 3 && term.length <= LONGEST_TERM;

  function addMemoryWords({ number, title, type, tags, text, okf_frontmatter }: MemoryRow): void {
    const about = okf_frontmatter === null ? null : readDescription(okf_frontmatter);
    const labels = [type, ...(JSON.parse(tags) as string[])].join(' ');
    const fields = indexTexts([title, labels, about === null ? text : `${text}\n${about}`]);
    addWords.run(number, ...fields);
    countTerms(fields, 1);
  }

  /** During bulk changes, the additions to each term are counted here and written once. */
  let pending: Map<string, number> | null = null;

  function countTerms(fields: readonly string[], by: 1 | -1): void {
    for (const term of listOnce(fields))
      if (pending === null) writeCount(term, by);
      else pending.set(term, (pending.get(term) ?? 0) + by);
  }

  function writeCount(term: string, by: number): void {
    if (by === 0) return;
    const counted = count.get(term, by);
    if (counted === undefined) return;
    if (counted.rows === by && by > 0 && hasParts(term)) addParts.run(counted.id, term);
    if (counted.rows > 0) return;
    removeTerm.run(counted.id);
    if (hasParts(term)) removeParts.run(counted.id);
  }

  /** Runs work that changes many rows. */
  function inBulk<T>(work: () => T): T {
    pending = new Map();
    try {
      const done = work();
      for (const [term, by] of pending) writeCount(term, by);
      return done;
    } finally {
      pending = null;
    }
  }

  return {
    add: addMemoryWords,
    inBulk,

    remove(number: number): void {
      const words = wordsOf.get(number);
      if (words === undefined) return;
      removeWords.run(number);
      countTerms([words.title, words.tags, words.text], -1);
    },

    isCurrent: (): boolean => versionOf.get() === VERSION,

    /** Reads all texts again. */
    rebuild(): void {
      db.exec('DELETE FROM memory_words; DELETE FROM memory_terms; DELETE FROM memory_term_parts');
      inBulk(() => {
        for (let last = 0, rows = active.all(last); rows.length > 0; rows = active.all(last))
          for (const row of rows) {
            addMemoryWords(row);
            last = row.number;
          }
      });
      setVersion.run(VERSION);
    },
  };
}

import { createSerialQueue } from '../../core/base/serial-queue.ts';
import { dropColours } from '../../core/base/text.ts';
import type { Storage } from '../../storage/index.ts';
import { coverSecrets } from '../memory/redact.ts';
import { createTextIndexer, nearWords, quoteForMatch, readQuery } from '../search/index.ts';
import { cutChunks, type TextChunk } from './chunks.ts';
import type { StoredRow } from './store.ts';
import type { FoundBytes } from './text-files.ts';

/** A part of a stored text that matches a query. */
export interface FoundChunk {
  id: string;
  /** From 1. */
  firstLine: number;
  lastLine: number;
  /** Secrets are masked. */
  text: string;
}

interface FoundRow {
  id: string;
  hash: string;
  bytes: number;
  text: number;
  first_line: number;
  last_line: number;
  begins: number;
  ends: number;
}

/** Changes if the same text would be indexed differently. */
const VERSION = '2';
/** Chunks that are indexed in one transaction, because others wait for it. */
const CHUNKS_AT_ONCE = 40;

/** Finds parts of stored texts. A text is indexed at its first search: most are never searched. */
export function createTextSearch({
  storage,
  read,
  expiresBefore,
}: {
  storage: Storage;
  read(row: Pick<StoredRow, 'hash' | 'bytes'>): FoundBytes;
  expiresBefore(): number;
}) {
  const { db } = storage;
  const isHeld = `(@holder IS NULL
    OR EXISTS (SELECT 1 FROM stored_text_holder WHERE text = stored_text.number AND holder = @holder))`;
  const unindexed = db.prepare<unknown[], StoredRow>(`SELECT * FROM stored_text
    WHERE ended_at IS NULL AND is_indexed = 0 AND used_at > @since AND ${isHeld} ORDER BY number`);
  const isWanted = db.prepare('SELECT 1 FROM stored_text WHERE number = ? AND ended_at IS NULL');
  const indexedTo = db
    .prepare<unknown[], number>('SELECT coalesce(max(ends), 0) FROM text_chunk WHERE text = ?')
    .pluck();
  const clearWords = db.prepare(
    'DELETE FROM chunk_words WHERE rowid IN (SELECT number FROM text_chunk WHERE text = ?)',
  );
  const clearChunks = db.prepare('DELETE FROM text_chunk WHERE text = ?');
  const addChunk = db.prepare(
    'INSERT INTO text_chunk (text, first_line, last_line, begins, ends) VALUES (?, ?, ?, ?, ?)',
  );
  const addWords = db.prepare('INSERT INTO chunk_words (rowid, words) VALUES (?, ?)');
  const setIndexed = db.prepare('UPDATE stored_text SET is_indexed = 1 WHERE number = ?');
  const versionOf = db
    .prepare<unknown[], string>("SELECT value FROM meta WHERE key = 'context_index'")
    .pluck();
  const setVersion = db.prepare(
    "INSERT INTO meta (key, value) VALUES ('context_index', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const isKnown = db.prepare('SELECT 1 FROM chunk_vocabulary WHERE term = ?');
  const vocabulary = db
    .prepare<unknown[], string>(
      'SELECT term FROM chunk_vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?',
    )
    .pluck();
  const matching = db.prepare<
    unknown[],
    FoundRow
  >(`SELECT stored_text.id, stored_text.hash, stored_text.bytes,
      text_chunk.text, text_chunk.first_line, text_chunk.last_line, text_chunk.begins, text_chunk.ends
    FROM chunk_words JOIN text_chunk ON text_chunk.number = chunk_words.rowid
    JOIN stored_text ON stored_text.number = text_chunk.text
    WHERE chunk_words MATCH @match AND stored_text.ended_at IS NULL AND stored_text.used_at > @since AND ${isHeld}
    ORDER BY bm25(chunk_words), text_chunk.number LIMIT +@limit`);
  const inTurn = createSerialQueue();

  /** Indexes one piece: false if the text has ended in the meantime, perhaps to be stored again. */
  const indexChunks = (
    row: StoredRow,
    chunks: readonly TextChunk[],
    indexText: (text: string) => string,
    { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
  ): Promise<boolean> => {
    // A colour code would become part of the coloured word.
    const words = chunks.map(({ text }) => indexText(dropColours(text)));
    return storage.write(() => {
      if (isWanted.get(row.number) === undefined) return false;
      if (isFirst) {
        // Left by an engine that was stopped midway.
        clearWords.run(row.number);
        clearChunks.run(row.number);
      } else if (indexedTo.get(row.number) !== chunks[0]?.begins) return false;
      for (const [at, { firstLine, lastLine, begins, ends }] of chunks.entries()) {
        const { lastInsertRowid } = addChunk.run(row.number, firstLine, lastLine, begins, ends);
        addWords.run(lastInsertRowid, words[at] ?? '');
      }
      if (isLast) setIndexed.run(row.number);
      return true;
    });
  };

  async function indexRow(row: StoredRow, indexText: (text: string) => string): Promise<void> {
    const bytes = read(row);
    if (!Buffer.isBuffer(bytes)) return;
    // Applied to the whole text: a secret of many lines would not be recognised in a part.
    const chunks = [...cutChunks(coverSecrets(bytes.toString('utf8')))];
    for (let at = 0; at === 0 || at < chunks.length; at += CHUNKS_AT_ONCE) {
      const piece = chunks.slice(at, at + CHUNKS_AT_ONCE);
      const place = { isFirst: at === 0, isLast: at + CHUNKS_AT_ONCE >= chunks.length };
      if (!(await indexChunks(row, piece, indexText, place))) return;
    }
  }

  /** Forgets the index of another version, so that texts are read again at the next search. */
  async function forgetOldIndex(): Promise<void> {
    if (versionOf.get() === VERSION) return;
    await storage.write(() => {
      db.exec('DELETE FROM chunk_words; DELETE FROM text_chunk; UPDATE stored_text SET is_indexed = 0');
      setVersion.run(VERSION);
    });
  }

  const indexAll = (holder: string | null): Promise<void> =>
    inTurn(async () => {
      await forgetOldIndex();
      const rows = unindexed.all({ holder, since: expiresBefore() });
      const indexText = createTextIndexer();
      for (const row of rows) await indexRow(row, indexText);
    });

  const listForms = (forms: readonly string[]): readonly string[] =>
    forms.filter((form) => isKnown.get(form) !== undefined);

  /** Corrections for an unknown word: known words with the same prefix, or that differ by a letter or two. */
  function guessWords(word: string): string[] {
    if (word.length < 4 || !/^[a-z]+$/.test(word)) return [];
    const first = word.charCodeAt(0);
    const range = [String.fromCharCode(first), String.fromCharCode(first + 1)];
    return nearWords(word, vocabulary.iterate(...range, word.length - 2, word.length + 6));
  }

  /** Returns MATCH expressions, from all requested words to similar ones. */
  function readMatches(query: string): string[] {
    const wanted = readQuery(query).map(({ word, forms, near }) => {
      const known = listForms(forms);
      return { words: known.length > 0 ? known : guessWords(word), near: listForms(near) };
    });
    const anyOf = (words: readonly string[]): string => words.map(quoteForMatch).join(' OR ');
    const groups = wanted.filter(({ words }) => words.length > 0).map(({ words }) => `(${anyOf(words)})`);
    const like = wanted.flatMap(({ near }) => near);
    return [
      ...(groups.length > 1 ? [groups.join(' AND ')] : []),
      ...(groups.length > 0 ? [groups.join(' OR ')] : []),
      ...(like.length > 0 ? [anyOf(like)] : []),
    ];
  }

  function readCovered(row: FoundRow): FoundBytes {
    const bytes = read(row);
    return Buffer.isBuffer(bytes) ? Buffer.from(coverSecrets(bytes.toString('utf8'))) : bytes;
  }

  return {
    /** Returns at most `limit` chunks about `query`, best first; of texts of one holder, or of all. */
    async find(
      query: string,
      { limit, holder }: { limit: number; holder: string | null },
    ): Promise<{ chunks: FoundChunk[]; texts: number[] }> {
      await indexAll(holder);
      const found = new Map<string, FoundRow>();
      for (const match of readMatches(query)) {
        if (found.size >= limit) break;
        for (const row of matching.all({ match, limit, holder, since: expiresBefore() }))
          found.set(`${row.text} ${row.begins}`, found.get(`${row.text} ${row.begins}`) ?? row);
      }
      const rows = [...found.values()].slice(0, limit);
      const opened = new Map<string, FoundBytes>();
      const chunks = rows.flatMap((row): FoundChunk[] => {
        const bytes = opened.get(row.hash) ?? readCovered(row);
        opened.set(row.hash, bytes);
        if (!Buffer.isBuffer(bytes)) return [];
        const text = bytes.toString('utf8', row.begins, row.ends).replace(/\n$/, '');
        return [
          {
            id: row.id,
            firstLine: row.first_line,
            lastLine: row.last_line,
            text,
          },
        ];
      });
      return { chunks, texts: [...new Set(rows.map(({ text }) => text))] };
    },
  };
}

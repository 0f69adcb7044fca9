import { coverSecrets } from '../../core/base/redact.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import { dropColours } from '../../core/base/text.ts';
import type { Storage } from '../../storage/index.ts';
import { createTextIndexer } from '../search/index.ts';
import { cutChunks, type TextChunk } from './chunks.ts';
import type { StoredRow } from './store.ts';
import type { FoundBytes } from './text-files.ts';

/** Changes if the same text would be indexed differently. */
const VERSION = '3';
/** Chunks that are indexed in one transaction, because others wait for it. */
const CHUNKS_AT_ONCE = 40;

/** Matches texts of the holder; all texts without one. */
export const IS_HELD = `(@holder IS NULL
  OR EXISTS (SELECT 1 FROM stored_text_holder WHERE text = stored_text.number AND holder = @holder))`;

/** Creates the indexing of stored texts that were not searched before. */
export function createChunkIndexer({
  storage,
  read,
  expiresBefore,
}: {
  storage: Storage;
  read(row: Pick<StoredRow, 'hash' | 'bytes'>): FoundBytes;
  expiresBefore(): number;
}) {
  const { db } = storage;
  const unindexed = db.prepare<unknown[], StoredRow>(`SELECT * FROM stored_text
    WHERE ended_at IS NULL AND is_indexed = 0 AND used_at > @since AND ${IS_HELD} ORDER BY number`);
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

  return indexAll;
}

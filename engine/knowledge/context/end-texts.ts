import type { TextStoreDeps } from './store-deps.ts';
import type { StoredRow } from './stored-rows.ts';

/** How long an expired id is distinguished from an unknown one. */
const REMEMBERED_MS = 7 * 86_400_000;

/** Ends stored texts: unread ones, and the least recently read when space is needed. */
export function createTextEnder(
  { storage, clock, mostBytes, removeFile }: Omit<TextStoreDeps, 'idleMs'>,
  expiresBefore: () => number,
) {
  const { db } = storage;
  const byHash = db.prepare<unknown[], StoredRow>('SELECT * FROM stored_text WHERE hash = ?');
  const idle = db.prepare<unknown[], StoredRow>(
    'SELECT * FROM stored_text WHERE ended_at IS NULL AND used_at <= ?',
  );
  const longestIdle = db.prepare<unknown[], StoredRow>(
    'SELECT * FROM stored_text WHERE ended_at IS NULL AND number <> ? ORDER BY used_at LIMIT 1',
  );
  const sumKept = db.prepare<unknown[], { texts: number; bytes: number }>(
    'SELECT count(*) AS texts, coalesce(sum(bytes), 0) AS bytes FROM stored_text WHERE ended_at IS NULL',
  );
  const end = db.prepare('UPDATE stored_text SET ended_at = ?, is_indexed = 0 WHERE number = ?');
  const forget = db.prepare('DELETE FROM stored_text WHERE ended_at <= ?');
  const removeHolders = db.prepare('DELETE FROM stored_text_holder WHERE text = ?');
  const removeWords = db.prepare(
    'DELETE FROM chunk_words WHERE rowid IN (SELECT number FROM text_chunk WHERE text = ?)',
  );
  const removeChunks = db.prepare('DELETE FROM text_chunk WHERE text = ?');

  /** Texts whose files are removed after the commit, unless they are stored again in it, or it is undone. */
  const ended = new Set<string>();
  function removeEnded(): void {
    for (const hash of ended) {
      const row = byHash.get(hash);
      if (row === undefined || row.ended_at !== null) removeFile(hash);
    }
    ended.clear();
  }

  function endRow({ number, hash }: StoredRow): void {
    removeWords.run(number);
    removeChunks.run(number);
    removeHolders.run(number);
    end.run(clock.now(), number);
    ended.add(hash);
    storage.afterCommit(removeEnded);
  }

  /** Removes the least recently read texts until there is room. */
  function makeRoom(keep: number): void {
    let { bytes } = sumKept.get() ?? { bytes: 0 };
    while (bytes > mostBytes) {
      const row = longestIdle.get(keep);
      if (row === undefined) return;
      endRow(row);
      bytes -= row.bytes;
    }
  }

  return {
    makeRoom,

    /** Ends texts that were unread for too long. Returns their number. */
    sweep(): number {
      const rows = idle.all(expiresBefore());
      for (const row of rows) endRow(row);
      forget.run(clock.now() - REMEMBERED_MS);
      return rows.length;
    },

    /** The number of texts, and their total length. */
    sumStored: (): { texts: number; bytes: number } => sumKept.get() ?? { texts: 0, bytes: 0 },
  };
}

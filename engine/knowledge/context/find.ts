import { coverSecrets } from '../../core/base/redact.ts';
import type { Storage } from '../../storage/index.ts';
import { createChunkIndexer, IS_HELD } from './index-chunks.ts';
import { createMatchReader } from './read-matches.ts';
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
  const indexAll = createChunkIndexer({ storage, read, expiresBefore });
  const readMatches = createMatchReader(db);
  const matching = db.prepare<
    unknown[],
    FoundRow
  >(`SELECT stored_text.id, stored_text.hash, stored_text.bytes,
      text_chunk.text, text_chunk.first_line, text_chunk.last_line, text_chunk.begins, text_chunk.ends
    FROM chunk_words JOIN text_chunk ON text_chunk.number = chunk_words.rowid
    JOIN stored_text ON stored_text.number = text_chunk.text
    WHERE chunk_words MATCH @match AND stored_text.ended_at IS NULL AND stored_text.used_at > @since AND ${IS_HELD}
    ORDER BY bm25(chunk_words), text_chunk.number LIMIT +@limit`);

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

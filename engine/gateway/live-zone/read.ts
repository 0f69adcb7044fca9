import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { forwardedPath } from './schema.ts';

/** A whole output that the gateway forwarded in shortened form. */
export interface ForwardedText {
  number: number;
  hash: string;
  text: string;
  kind: string;
  holder: string;
}

/** Bytes that the gateway kept out of the contexts of one session; '' for persons. */
export interface ForwardedSaving {
  session: string;
  calls: number;
  bytes_in: number;
  bytes_out: number;
  last_at: number;
}

/** The engine's read access to the forwarded replacements; empty until the gateway has shortened something. */
export interface ForwardedReader {
  /** Returns texts after a number, in order. */
  listAfter(number: number, limit: number): ForwardedText[];
  /** Returns the text whose hash starts with this prefix; null for none. */
  find(hash: string): ForwardedText | null;
  listSavings(): ForwardedSaving[];
  close(): void;
}

type Row = Omit<ForwardedText, 'text'> & { text: Buffer };

const COLUMNS = 'number, hash, text, kind, holder';

export function createForwardedReader(data: string): ForwardedReader {
  const path = forwardedPath(data);
  let opened: Database.Database | null = null;

  function openForwardedDatabase(): Database.Database | null {
    if (opened !== null || !existsSync(path)) return opened;
    opened = new Database(path, { readonly: true, fileMustExist: true, timeout: 300 });
    opened.pragma('trusted_schema = OFF');
    return opened;
  }
  /** Reads rows; none while the gateway is still creating the file. */
  function all<T>(sql: string, ...given: unknown[]): T[] {
    const db = openForwardedDatabase();
    if (db === null || (db.pragma('user_version', { simple: true }) as number) === 0) return [];
    return db.prepare<unknown[], T>(sql).all(...given);
  }
  const unpack = ({ text, ...rest }: Row): ForwardedText => ({
    ...rest,
    // Not imported: a millisecond of each start.
    text: process.getBuiltinModule('node:zlib').zstdDecompressSync(text).toString('utf8'),
  });

  return {
    listAfter: (number, limit) =>
      all<Row>(
        `SELECT ${COLUMNS} FROM kept_text WHERE number > ? ORDER BY number LIMIT +?`,
        number,
        limit,
      ).map(unpack),
    find(hash) {
      const [row] = all<Row>(
        `SELECT ${COLUMNS} FROM kept_text WHERE hash >= ? AND hash < ? LIMIT 1`,
        hash,
        `${hash}g`,
      );
      return row === undefined ? null : unpack(row);
    },
    listSavings: () => all<ForwardedSaving>('SELECT * FROM saving'),
    close() {
      opened?.close();
      opened = null;
    },
  };
}

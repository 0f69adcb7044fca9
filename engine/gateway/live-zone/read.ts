import { existsSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { forwardedPath } from './schema.ts';

/** A whole output of which the gateway has forwarded less. */
export interface ForwardedText {
  number: number;
  hash: string;
  text: string;
  kind: string;
  holder: string;
}

/** What the gateway has kept out of the contexts of one session; '' for persons. */
export interface ForwardedSaving {
  session: string;
  calls: number;
  bytes_in: number;
  bytes_out: number;
  last_at: number;
}

/** The engine's eyes on what the gateway has forwarded; nothing is there before it has shortened anything. */
export interface ForwardedReader {
  /** Texts that came after a number, in their order. */
  listAfter(number: number, limit: number): ForwardedText[];
  /** The text whose hash begins so; null for none. */
  find(hash: string): ForwardedText | null;
  listSavings(): ForwardedSaving[];
  close(): void;
}

type Row = Omit<ForwardedText, 'text'> & { text: Buffer };

const COLUMNS = 'number, hash, text, kind, holder';

export function createForwardedReader(data: string): ForwardedReader {
  const path = forwardedPath(data);
  let opened: Database.Database | null = null;

  function open(): Database.Database | null {
    if (opened !== null || !existsSync(path)) return opened;
    opened = new Database(path, { readonly: true, fileMustExist: true, timeout: 300 });
    opened.pragma('trusted_schema = OFF');
    return opened;
  }
  /** The gateway may just be making it. */
  function all<T>(sql: string, ...given: unknown[]): T[] {
    const db = open();
    if (db === null || (db.pragma('user_version', { simple: true }) as number) === 0) return [];
    return db.prepare<unknown[], T>(sql).all(...given);
  }
  const unpack = ({ text, ...rest }: Row): ForwardedText => ({
    ...rest,
    text: zstdDecompressSync(text).toString('utf8'),
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

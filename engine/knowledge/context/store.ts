import { createTextEnder } from './end-texts.ts';
import { createTextFinder } from './find-texts.ts';
import type { TextStoreDeps } from './store-deps.ts';
import { type StoredRow, type StoredText, toStored } from './stored-rows.ts';

export type { StoredRow, StoredText } from './stored-rows.ts';

/** A text to store; its bytes are already on disk. */
export interface NewText extends Pick<StoredRow, 'hash' | 'bytes' | 'lines' | 'kind'> {
  /** The exit code according to the caller, or to its output; null for unknown. */
  told: number | null;
  found: number | null;
}

export type TextStore = ReturnType<typeof createTextStore>;

/** Length of the hash in an id; longer if two hashes have the same prefix. */
const SHORTEST_ID = 10;

/** Owns the rows of stored texts. Changes run inside `storage.write`. */
export function createTextStore({ storage, clock, idleMs, mostBytes, removeFile }: TextStoreDeps) {
  const { db } = storage;
  const byId = db.prepare<unknown[], StoredRow>('SELECT * FROM stored_text WHERE id = ?');
  const byHash = db.prepare<unknown[], StoredRow>('SELECT * FROM stored_text WHERE hash = ?');
  const insert =
    db.prepare(`INSERT INTO stored_text (id, hash, bytes, lines, kind, exit_code, created_at, used_at)
    VALUES (@id, @hash, @bytes, @lines, @kind, @exitCode, @now, @now)`);
  const renew = db.prepare(
    'UPDATE stored_text SET used_at = ?, kind = ?, exit_code = ?, ended_at = NULL WHERE number = ?',
  );
  const touch = db.prepare('UPDATE stored_text SET used_at = ? WHERE number = ? AND ended_at IS NULL');
  const hold = db.prepare('INSERT OR IGNORE INTO stored_text_holder (text, holder) VALUES (?, ?)');
  const count = db.prepare(`INSERT INTO context_saving (session, tool, calls, bytes_in, bytes_out, last_at)
    VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT (session, tool) DO UPDATE SET calls = calls + 1,
    bytes_in = bytes_in + excluded.bytes_in, bytes_out = bytes_out + excluded.bytes_out, last_at = excluded.last_at`);

  /** Returns the time up to which a last use has expired. */
  const expiresBefore = (): number => {
    const window = idleMs();
    return window === 0 ? -1 : clock.now() - window;
  };

  /** Creates an id. Two texts with the same hash prefix have ids of different length. */
  function makeId(hash: string): string {
    let length = SHORTEST_ID;
    while (byId.get(`c-${hash.slice(0, length)}`) !== undefined) length += 2;
    return `c-${hash.slice(0, length)}`;
  }

  const { makeRoom, sweep, sumStored } = createTextEnder(
    { storage, clock, mostBytes, removeFile },
    expiresBefore,
  );

  return {
    ...createTextFinder(db, expiresBefore),
    sweep,
    sumStored,
    /** Returns the id that a text of this hash has, or will have. */
    nameText: (hash: string): string => byHash.get(hash)?.id ?? makeId(hash),

    /** Stores the metadata of a text whose file exists, or renews it. */
    keep(text: NewText, holder: string): StoredText {
      const now = clock.now();
      const known = byHash.get(text.hash);
      if (known === undefined)
        insert.run({ ...text, exitCode: text.told ?? text.found, id: makeId(text.hash), now });
      else renew.run(now, text.kind, text.told ?? known.exit_code, known.number);
      const row = byHash.get(text.hash) as StoredRow;
      hold.run(row.number, holder);
      makeRoom(row.number);
      return toStored(row);
    },

    /** Resets the expiry of a text when it is read. */
    use({ number }: Pick<StoredRow, 'number'>, holder: string): void {
      if (touch.run(clock.now(), number).changes > 0) hold.run(number, holder);
    },

    /** Reports whether its file is needed. */
    isKept: (hash: string): boolean => byHash.get(hash)?.ended_at === null,

    expiresBefore,

    count: (session: string | null, tool: string, bytesIn: number, bytesOut: number): void =>
      void count.run(session ?? '', tool, bytesIn, bytesOut, clock.now()),
  };
}

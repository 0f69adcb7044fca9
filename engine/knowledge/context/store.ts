import { cursorError } from '../../core/api/cursor.ts';
import type { Clock } from '../../core/base/clock.ts';
import { rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Storage } from '../../storage/index.ts';

/** The metadata of a stored text. Times are RFC 3339 UTC. */
export interface StoredText {
  id: string;
  bytes: number;
  lines: number;
  kind: string;
  exitCode: number | null;
  createdAt: string;
  usedAt: string;
}

export interface StoredRow {
  number: number;
  id: string;
  hash: string;
  bytes: number;
  lines: number;
  kind: string;
  exit_code: number | null;
  created_at: number;
  used_at: number;
  ended_at: number | null;
  is_indexed: number;
}

/** A text to store; its bytes are already on disk. */
export interface NewText extends Pick<StoredRow, 'hash' | 'bytes' | 'lines' | 'kind'> {
  /** The exit code according to the caller, or to its output; null for unknown. */
  told: number | null;
  found: number | null;
}

export interface TextStoreDeps {
  storage: Storage;
  clock: Clock;
  /** Returns how long an unread text is kept, ms; 0 until its space is needed. */
  idleMs(): number;
  /** Maximum bytes of all texts together. */
  mostBytes: number;
  /** Removes the file of a text, after the commit that ended it. */
  removeFile(hash: string): void;
}

export type TextStore = ReturnType<typeof createTextStore>;

/** Matches unexpired texts of the holder; all texts without one. */
const LISTED = `ended_at IS NULL AND used_at > @since AND (@holder IS NULL
  OR EXISTS (SELECT 1 FROM stored_text_holder WHERE text = stored_text.number AND holder = @holder))`;
/** Length of the hash in an id; longer if two hashes have the same prefix. */
const SHORTEST_ID = 10;
/** How long an expired id is distinguished from an unknown one. */
const REMEMBERED_MS = 7 * 86_400_000;

const toStored = (row: StoredRow): StoredText => ({
  id: row.id,
  bytes: row.bytes,
  lines: row.lines,
  kind: row.kind,
  exitCode: row.exit_code,
  createdAt: rfc3339(row.created_at),
  usedAt: rfc3339(row.used_at),
});

/** Owns the rows of stored texts. Changes run inside `storage.write`. */
export function createTextStore({ storage, clock, idleMs, mostBytes, removeFile }: TextStoreDeps) {
  const { db } = storage;
  const byId = db.prepare<unknown[], StoredRow>('SELECT * FROM stored_text WHERE id = ?');
  const byHash = db.prepare<unknown[], StoredRow>('SELECT * FROM stored_text WHERE hash = ?');
  const byHashBeginning = db.prepare<unknown[], StoredRow>(
    'SELECT * FROM stored_text WHERE hash >= ? AND hash < ? AND length(id) <= ? LIMIT 2',
  );
  const byPrefix = db.prepare<unknown[], StoredRow>(
    'SELECT * FROM stored_text WHERE id >= ? AND id < ? ORDER BY id LIMIT 2',
  );
  const insert =
    db.prepare(`INSERT INTO stored_text (id, hash, bytes, lines, kind, exit_code, created_at, used_at)
    VALUES (@id, @hash, @bytes, @lines, @kind, @exitCode, @now, @now)`);
  const renew = db.prepare(
    'UPDATE stored_text SET used_at = ?, kind = ?, exit_code = ?, ended_at = NULL WHERE number = ?',
  );
  const touch = db.prepare('UPDATE stored_text SET used_at = ? WHERE number = ? AND ended_at IS NULL');
  const hold = db.prepare('INSERT OR IGNORE INTO stored_text_holder (text, holder) VALUES (?, ?)');
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
  const newest = db.prepare<unknown[], StoredRow>(
    `SELECT * FROM stored_text WHERE ${LISTED} AND number < @before ORDER BY number DESC LIMIT +@limit`,
  );
  const lastUsed = db.prepare<unknown[], StoredRow>(
    `SELECT * FROM stored_text WHERE ${LISTED} ORDER BY used_at DESC, number DESC LIMIT +@limit`,
  );
  const countListed = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM stored_text WHERE ${LISTED}`,
  );
  const count = db.prepare(`INSERT INTO context_saving (session, tool, calls, bytes_in, bytes_out, last_at)
    VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT (session, tool) DO UPDATE SET calls = calls + 1,
    bytes_in = bytes_in + excluded.bytes_in, bytes_out = bytes_out + excluded.bytes_out, last_at = excluded.last_at`);

  /** Texts whose files are removed after the commit, unless they are stored again in it, or it is undone. */
  const ended = new Set<string>();
  function removeEnded(): void {
    for (const hash of ended) {
      const row = byHash.get(hash);
      if (row === undefined || row.ended_at !== null) removeFile(hash);
    }
    ended.clear();
  }

  /** Returns the time up to which a last use has expired. */
  const expiresBefore = (): number => {
    const window = idleMs();
    return window === 0 ? -1 : clock.now() - window;
  };

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

  /** Creates an id. Two texts with the same hash prefix have ids of different length. */
  function makeId(hash: string): string {
    let length = SHORTEST_ID;
    while (byId.get(`c-${hash.slice(0, length)}`) !== undefined) length += 2;
    return `c-${hash.slice(0, length)}`;
  }

  /** Finds a text by a longer part of its hash than its id, as the gateway names it; or by a shorter one. */
  function findLike(wanted: string, isWhole: boolean): StoredRow[] {
    const hash = wanted.slice(2);
    const longer = /^[0-9a-f]+$/.test(hash) ? byHashBeginning.all(hash, `${hash}g`, wanted.length) : [];
    if (longer.length > 0 || isWhole || wanted.length <= 3) return longer;
    return byPrefix.all(wanted, `${wanted}\u{10ffff}`);
  }

  function expiredError({ id, used_at }: StoredRow): SvcError {
    return new SvcError(
      'expired',
      `expired: run the command again (no one has read ${id} since ${rfc3339(used_at)})`,
      {
        hint: 'context.ttl_minutes sets how long an unread text is kept',
      },
    );
  }

  return {
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

    /** Finds a text only by its own id; `isWhole` requires the complete id. Throws `not_found`, `expired`, `conflict`. */
    resolve(given: string, { isWhole }: { isWhole: boolean }): StoredRow {
      const wanted = given.startsWith('c-') ? given : `c-${given}`;
      const exact = byId.get(wanted);
      const [first, second] = exact === undefined ? findLike(wanted, isWhole) : [exact];
      if (first === undefined)
        throw new SvcError('not_found', `no stored text ${JSON.stringify(given.slice(0, 80))}`, {
          hint: isWhole ? 'give the whole id, as the stub shows it' : sentence`{context.list} lists them`,
        });
      if (second !== undefined)
        throw new SvcError('conflict', `several stored texts start with ${wanted}`, {
          hint: 'give more characters of the id',
        });
      if (first.ended_at !== null || first.used_at <= expiresBefore()) throw expiredError(first);
      return first;
    },

    /** Resets the expiry of a text when it is read. */
    use({ number }: Pick<StoredRow, 'number'>, holder: string): void {
      if (touch.run(clock.now(), number).changes > 0) hold.run(number, holder);
    },

    /**
     * Returns unexpired texts, newest first, of one holder or all: at most `limit` after the one named by `cursor`.
     * Throws `usage`.
     */
    list(
      { limit, cursor }: { limit: number; cursor?: string | undefined },
      holder: string | null,
    ): StoredText[] {
      const last = cursor === undefined ? undefined : byId.get(cursor);
      if (cursor !== undefined && last === undefined) throw cursorError(cursor);
      const before = last?.number ?? Number.MAX_SAFE_INTEGER;
      return newest.all({ limit, before, holder, since: expiresBefore() }).map(toStored);
    },

    listLastUsed: (limit: number, holder: string | null): StoredText[] =>
      lastUsed.all({ limit, holder, since: expiresBefore() }).map(toStored),

    countListed: (holder: string | null): number =>
      countListed.get({ holder, since: expiresBefore() })?.n ?? 0,

    /** Reports whether its file is needed. */
    isKept: (hash: string): boolean => byHash.get(hash)?.ended_at === null,

    expiresBefore,

    /** Ends texts that were unread for too long. Returns their number. */
    sweep(): number {
      const rows = idle.all(expiresBefore());
      for (const row of rows) endRow(row);
      forget.run(clock.now() - REMEMBERED_MS);
      return rows.length;
    },

    count: (session: string | null, tool: string, bytesIn: number, bytesOut: number): void =>
      void count.run(session ?? '', tool, bytesIn, bytesOut, clock.now()),

    /** The number of texts, and their total length. */
    sumStored: (): { texts: number; bytes: number } => sumKept.get() ?? { texts: 0, bytes: 0 },
  };
}

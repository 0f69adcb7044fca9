import { cursorError } from '../../core/api/cursor.ts';
import { rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Db } from '../../storage/index.ts';
import { type StoredRow, type StoredText, toStored } from './stored-rows.ts';

/** Matches unexpired texts of the holder; all texts without one. */
const LISTED = `ended_at IS NULL AND used_at > @since AND (@holder IS NULL
  OR EXISTS (SELECT 1 FROM stored_text_holder WHERE text = stored_text.number AND holder = @holder))`;

/** Finds and lists stored texts that have not expired. */
export function createTextFinder(db: Db, expiresBefore: () => number) {
  const byId = db.prepare<unknown[], StoredRow>('SELECT * FROM stored_text WHERE id = ?');
  const byHashBeginning = db.prepare<unknown[], StoredRow>(
    'SELECT * FROM stored_text WHERE hash >= ? AND hash < ? AND length(id) <= ? LIMIT 2',
  );
  const byPrefix = db.prepare<unknown[], StoredRow>(
    'SELECT * FROM stored_text WHERE id >= ? AND id < ? ORDER BY id LIMIT 2',
  );
  const newest = db.prepare<unknown[], StoredRow>(
    `SELECT * FROM stored_text WHERE ${LISTED} AND number < @before ORDER BY number DESC LIMIT +@limit`,
  );
  const lastUsed = db.prepare<unknown[], StoredRow>(
    `SELECT * FROM stored_text WHERE ${LISTED} ORDER BY used_at DESC, number DESC LIMIT +@limit`,
  );
  const countListed = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM stored_text WHERE ${LISTED}`,
  );

  /** Finds a text by a longer part of its hash than its id, as the gateway names it; or by a shorter one. */
  function findLike(wanted: string, isWhole: boolean): StoredRow[] {
    const hash = wanted.slice(2);
    const longer = /^[0-9a-f]+$/.test(hash) ? byHashBeginning.all(hash, `${hash}g`, wanted.length) : [];
    if (longer.length > 0 || isWhole || wanted.length <= 3) return longer;
    return byPrefix.all(wanted, `${wanted}\u{10ffff}`);
  }

  return {
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
  };
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

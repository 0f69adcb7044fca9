import type { Db } from '../../storage/index.ts';
import { type Ask, type AskRow, type AskStatus, toAsk } from './rows.ts';

export interface AskFilter {
  status?: AskStatus | undefined;
  /** The asker. */
  from?: string | undefined;
  /** The asker or the recipient. */
  among?: string | undefined;
  ids?: readonly number[] | undefined;
  /** The ask that a page starts after. */
  cursor?: number | undefined;
  limit?: number | undefined;
}

/** Reads asks, and changes none. */
export interface AskQueries {
  /** Newest first; only open ones, if requested, oldest first. At most `limit` (50, or as many as there are `ids`). */
  list(filter: AskFilter): Ask[];
  counts(): { open: number; nextExpiresAt: string | null };
  count(filter: Pick<AskFilter, 'status' | 'from' | 'among'>): number;
  /** Reports whether the session has an open ask. */
  isAsking(sessionId: string): boolean;
  /** Returns when the next open ask expires, Unix ms; null if none is open. */
  nextExpiry(): number | null;
}

export function createAskQueries(db: Db): AskQueries {
  const parties = `(@from IS NULL OR from_session = @from)
    AND (@among IS NULL OR @among IN (from_session, to_session))`;
  const among = `${parties}
    AND (@ids IS NULL OR id IN (SELECT value FROM json_each(@ids)))`;
  const newest = db.prepare<unknown[], AskRow>(
    `SELECT * FROM ask WHERE status = coalesce(@status, status) AND id < @cursor AND ${among} ORDER BY id DESC LIMIT +@limit`,
  );
  const open = db.prepare<unknown[], AskRow>(
    `SELECT * FROM ask WHERE status = 'open' AND +id > @cursor AND ${among} ORDER BY +id LIMIT +@limit`,
  );
  const asking = db.prepare<unknown[], unknown>(
    `SELECT 1 FROM ask WHERE from_session = ? AND +status = 'open' LIMIT 1`,
  );
  const openCount = db.prepare<unknown[], { open: number; next: number | null }>(
    `SELECT count(*) AS open, min(expires_at) AS next FROM ask WHERE status = 'open'`,
  );
  const countOf = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM ask WHERE status = coalesce(@status, status) AND ${parties}`,
  );

  return {
    list({ status, from, among: party, ids, cursor, limit = ids?.length ?? 50 }) {
      const wanted = {
        from: from ?? null,
        among: party ?? null,
        ids: ids === undefined ? null : JSON.stringify(ids),
        limit,
      };
      const rows =
        status === 'open'
          ? open.all({ ...wanted, cursor: cursor ?? 0 })
          : newest.all({ ...wanted, cursor: cursor ?? Number.MAX_SAFE_INTEGER, status: status ?? null });
      return rows.map(toAsk);
    },
    isAsking: (sessionId) => asking.get(sessionId) !== undefined,
    counts() {
      const { open: number = 0, next = null } = openCount.get() ?? {};
      return { open: number, nextExpiresAt: next === null ? null : new Date(next).toISOString() };
    },
    nextExpiry: () => openCount.get()?.next ?? null,
    count: ({ status, from, among: party }) =>
      countOf.get({ status: status ?? null, from: from ?? null, among: party ?? null })?.n ?? 0,
  };
}

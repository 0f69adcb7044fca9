import type { Statement } from 'better-sqlite3';
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
  /** Returns when the next open ask expires, Unix ms; null if none is open. */
  nextExpiry(): number | null;
}

/** Conditions by the filter that needs them: each can use an index, unlike one condition that allows for null. */
const CONDITIONS = {
  status: 'status = @status',
  from: 'from_session = @from',
  among: '(from_session = @among OR to_session = @among)',
  ids: 'id IN (SELECT value FROM json_each(@ids))',
} as const;

type Wanted = Partial<Record<keyof typeof CONDITIONS, string>>;

/** Returns the filters that are given, as a condition and its parameters. */
function buildCondition({ status, from, among, ids }: AskFilter): { where: string; given: Wanted } {
  const all = { status, from, among, ids: ids === undefined ? undefined : JSON.stringify(ids) };
  const used = Object.entries(all).filter((each): each is [keyof Wanted, string] => each[1] !== undefined);
  return {
    where: used.map(([name]) => `AND ${CONDITIONS[name]}`).join(' '),
    given: Object.fromEntries(used),
  };
}

export function createAskQueries(db: Db): AskQueries {
  const prepared = new Map<string, Statement<unknown[], unknown>>();
  /** A statement for each combination of filters, since the plan of one for all would read every ask. */
  function prepare<Row>(sql: string): Statement<unknown[], Row> {
    const statement = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, statement);
    return statement as Statement<unknown[], Row>;
  }
  const openCount = db.prepare<unknown[], { open: number; next: number | null }>(
    `SELECT count(*) AS open, min(expires_at) AS next FROM ask WHERE status = 'open'`,
  );
  const stateCount = db.prepare<unknown[], { n: number }>(
    "SELECT coalesce(sum(n), 0) AS n FROM state_count WHERE of = 'ask' AND state = coalesce(?, state)",
  );

  return {
    list(filter) {
      const { status, ids, cursor, limit = ids?.length ?? 50 } = filter;
      const isOpen = status === 'open';
      const { where, given } = buildCondition(isOpen ? { ...filter, status: undefined } : filter);
      const rows = prepare<AskRow>(
        isOpen
          ? `SELECT * FROM ask WHERE status = 'open' AND +id > @cursor ${where} ORDER BY +id LIMIT +@limit`
          : `SELECT * FROM ask WHERE id < @cursor ${where} ORDER BY id DESC LIMIT +@limit`,
      ).all({ ...given, limit, cursor: cursor ?? (isOpen ? 0 : Number.MAX_SAFE_INTEGER) });
      return rows.map(toAsk);
    },
    counts() {
      const { open: number = 0, next = null } = openCount.get() ?? {};
      return { open: number, nextExpiresAt: next === null ? null : new Date(next).toISOString() };
    },
    nextExpiry: () => openCount.get()?.next ?? null,
    count({ status, from, among }) {
      if (from === undefined && among === undefined) return stateCount.get(status ?? null)?.n ?? 0;
      const { where, given } = buildCondition({ status, from, among });
      return prepare<{ n: number }>(`SELECT count(*) AS n FROM ask WHERE true ${where}`).get(given)?.n ?? 0;
    },
  };
}

import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { formatId, parseId } from '../core/base/ids.ts';
import type { Storage } from '../storage/index.ts';

/** A branch that is to be pushed, with a pull request. Times are RFC 3339 UTC. */
export interface PullRequestOrder {
  sessionId: string;
  createdAt: string;
  /** Failed attempts so far. */
  tries: number;
  /** When it is tried; null if a person has to decide. */
  nextAt: string | null;
  /** Why that was not done yet, a sentence; null before the first attempt. */
  problem: string | null;
}

interface Row {
  session_id: number;
  created_at: number;
  tries: number;
  next_at: number | null;
  problem: string | null;
}

const toOrder = (row: Row): PullRequestOrder => ({
  sessionId: formatId('s', row.session_id),
  createdAt: rfc3339(row.created_at),
  tries: row.tries,
  nextAt: row.next_at === null ? null : rfc3339(row.next_at),
  problem: row.problem,
});

/** The branches that are to be pushed. Mutating methods are called inside `storage.write`. */
export interface PullRequestOrders {
  find(sessionId: string): PullRequestOrder | null;
  /** Returns all, by session. */
  list(): ReadonlyMap<string, PullRequestOrder>;
  add(sessionId: string): void;
  /** Finds the session of the next one that is due, with its time as Unix ms. */
  findNext(): { sessionId: string; at: number } | null;
  /** Keeps it for later, or for a person if `nextAt` is null. */
  postpone(sessionId: string, next: { at: number | null; problem: string | null; isFailure: boolean }): void;
  drop(sessionId: string): void;
}

export function createPullRequestOrders(
  { db }: Pick<Storage, 'db'>,
  clock: Pick<Clock, 'now'>,
): PullRequestOrders {
  const select = db.prepare<unknown[], Row>('SELECT * FROM pull_request_order WHERE session_id = ?');
  const all = db.prepare<unknown[], Row>('SELECT * FROM pull_request_order');
  const next = db.prepare<unknown[], Row & { next_at: number }>(
    'SELECT * FROM pull_request_order WHERE next_at IS NOT NULL ORDER BY next_at, session_id LIMIT 1',
  );
  const insert = db.prepare(
    'INSERT OR REPLACE INTO pull_request_order (session_id, created_at, next_at) VALUES (?, ?, ?)',
  );
  const update = db.prepare(
    'UPDATE pull_request_order SET next_at = ?, problem = ?, tries = tries + ? WHERE session_id = ?',
  );
  const remove = db.prepare('DELETE FROM pull_request_order WHERE session_id = ?');
  return {
    find(sessionId) {
      const row = select.get(parseId('s', sessionId));
      return row === undefined ? null : toOrder(row);
    },
    list: () => new Map(all.all().map((row) => [formatId('s', row.session_id), toOrder(row)])),
    add(sessionId) {
      const now = clock.now();
      insert.run(parseId('s', sessionId), now, now);
    },
    findNext() {
      const row = next.get();
      return row === undefined ? null : { sessionId: formatId('s', row.session_id), at: row.next_at };
    },
    postpone(sessionId, { at, problem, isFailure }) {
      update.run(at, problem, isFailure ? 1 : 0, parseId('s', sessionId));
    },
    drop(sessionId) {
      remove.run(parseId('s', sessionId));
    },
  };
}

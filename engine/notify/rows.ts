import { rfc3339 } from '../core/base/clock.ts';
import type { Storage } from '../storage/index.ts';
import { shownTarget } from './shown-target.ts';

export type DeliveryState = 'pending' | 'delivered' | 'dead';
export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const satisfies DeliveryState[];

/** The delivery of one event to one target. Times are RFC 3339 UTC. */
export interface EventDelivery {
  id: number;
  event: string;
  /** The same for every attempt and every target of one event. */
  messageId: string;
  /** The target without its secret parts; see `shownTarget`. */
  url: string;
  state: DeliveryState;
  attempts: number;
  createdAt: string;
  /** Time of the next attempt; null once settled. */
  nextAt: string | null;
  deliveredAt: string | null;
  /** HTTP status of the last attempt; null without a response. */
  lastStatus: number | null;
  lastError: string | null;
}

/** A target that does not take events at the moment. */
export interface DeliveryProblem {
  target: string;
  problem: string;
}

export interface DeliveryRow {
  id: number;
  event_seq: number;
  event: string;
  message_id: string;
  url: string;
  body: string;
  state: DeliveryState;
  attempts: number;
  created_at: number;
  /** Start of its 24 hours of attempts, Unix ms. */
  first_at: number;
  next_at: number;
  delivered_at: number | null;
  last_status: number | null;
  last_error: string | null;
}

export const toDelivery = (row: DeliveryRow): EventDelivery => ({
  id: row.id,
  event: row.event,
  messageId: row.message_id,
  url: shownTarget(row.url),
  state: row.state,
  attempts: row.attempts,
  createdAt: rfc3339(row.created_at),
  nextAt: row.state === 'pending' ? rfc3339(row.next_at) : null,
  deliveredAt: row.delivered_at === null ? null : rfc3339(row.delivered_at),
  lastStatus: row.last_status,
  lastError: row.last_error,
});

/** The state of a delivery after an attempt. */
export interface DeliveryResult {
  state: DeliveryState;
  nextAt: number;
  deliveredAt: number | null;
  status: number | null;
  error: string | null;
}

const KEEP_DELIVERED_MS = 7 * 86_400_000;
const KEEP_DEAD_MS = 30 * 86_400_000;

// Skips from address to address in the index, so that the backlog of a dead target is not scanned.
const TARGETS = `target (url) AS (
  SELECT min(url) FROM delivery WHERE state = 'pending'
  UNION ALL
  SELECT (SELECT min(d.url) FROM delivery d WHERE d.state = 'pending' AND d.url > target.url)
  FROM target WHERE target.url IS NOT NULL)`;

export type EventOutbox = ReturnType<typeof createOutbox>;

/** Creates access to the outbox table. Methods that change it are called inside `storage.write`. */
export function createOutbox({ db }: Pick<Storage, 'db'>) {
  const insert = db.prepare(`INSERT INTO delivery
    (event_seq, event, message_id, url, body, state, created_at, first_at, next_at)
    VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?)`);
  const byId = db.prepare<unknown[], DeliveryRow>('SELECT * FROM delivery WHERE id = ?');
  const due = db.prepare<unknown[], DeliveryRow>(
    `SELECT * FROM delivery WHERE state = 'pending' AND url = +? AND next_at <= +? ORDER BY next_at, id LIMIT +?`,
  );
  const dueUrls = db.prepare<unknown[], { url: string }>(`WITH RECURSIVE ${TARGETS}
    SELECT url FROM target WHERE url IS NOT NULL AND EXISTS
      (SELECT 1 FROM delivery d WHERE d.state = 'pending' AND d.url = target.url AND d.next_at <= ?)`);
  const nextAfter = db.prepare<unknown[], { at: number | null }>(
    `SELECT min(next_at) AS at FROM delivery WHERE state = 'pending' AND next_at > ?`,
  );
  const settle = db.prepare(`UPDATE delivery SET state = ?, next_at = ?, delivered_at = ?, last_status = ?,
    last_error = ?, attempts = attempts + 1 WHERE id = ? AND state = 'pending'`);
  const postponeEnd = db.prepare(
    `UPDATE delivery SET first_at = min(@now, first_at + @idle) WHERE state = 'pending' AND url = @url`,
  );
  const hold = db.prepare<
    unknown[],
    { id: number }
  >(`UPDATE delivery SET last_status = NULL, last_error = @error
    WHERE state = 'pending' AND url = @url AND next_at <= @now AND last_error IS NOT @error RETURNING id`);
  const moveUntried = db.prepare(
    `UPDATE delivery SET first_at = @dueAt, next_at = @dueAt WHERE state = 'pending' AND url = @url AND attempts = 0`,
  );
  const again = db.prepare(`UPDATE delivery SET state = 'pending', attempts = 0, first_at = ?, next_at = ?,
    delivered_at = NULL WHERE id = ?`);
  const newest = db.prepare<unknown[], DeliveryRow>(
    'SELECT * FROM delivery WHERE id < ? ORDER BY id DESC LIMIT +?',
  );
  const ofState = db.prepare<unknown[], DeliveryRow>(
    'SELECT * FROM delivery WHERE state = ? AND id < ? ORDER BY id DESC LIMIT +?',
  );
  const counts = db.prepare<unknown[], { state: DeliveryState; n: number }>(
    "SELECT state, n FROM state_count WHERE of = 'delivery'",
  );
  const pendingUrls = db.prepare<unknown[], { url: string }>(
    `WITH RECURSIVE ${TARGETS} SELECT url FROM target WHERE url IS NOT NULL`,
  );
  // Of the next ones only: a dead target may have a long backlog.
  const problemOf = db.prepare<unknown[], { last_error: string }>(`SELECT last_error FROM
    (SELECT last_error FROM delivery WHERE state = 'pending' AND url = +? ORDER BY next_at, id LIMIT 20)
    WHERE last_error IS NOT NULL LIMIT 1`);
  const purge = db.prepare(`DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE state <> 'pending'
    AND created_at < ? AND (state = 'delivered' OR created_at < ?) ORDER BY created_at LIMIT 500)`);

  return {
    add(row: {
      seq: number;
      event: string;
      messageId: string;
      url: string;
      body: string;
      now: number;
      dueAt: number;
    }): number {
      const { seq, event, messageId, url, body, now, dueAt } = row;
      return Number(insert.run(seq, event, messageId, url, body, now, dueAt, dueAt).lastInsertRowid);
    },
    get: (id: number): DeliveryRow | undefined => byId.get(id),
    /** Returns the due deliveries of a target, the longest due first. */
    due: (url: string, now: number, limit: number): DeliveryRow[] => due.all(url, now, limit),
    dueUrls: (now: number): string[] => dueUrls.all(now).map(({ url }) => url),
    /** Returns the earliest due time after `now`; null when nothing is scheduled. */
    nextAfter: (now: number): number | null => nextAfter.get(now)?.at ?? null,
    settle(id: number, { state, nextAt, deliveredAt, status, error }: DeliveryResult): boolean {
      return settle.run(state, nextAt, deliveredAt, status, error, id).changes === 1;
    },
    /** Extends the deadline of a target's pending deliveries by the time without attempts. */
    postponeEnd(url: string, idle: number, now: number): void {
      postponeEnd.run({ url, idle, now });
    },
    /** Records why a target's due deliveries wait, without counting an attempt. Returns the ids whose reason changed. */
    hold: (url: string, error: string, now: number): number[] =>
      hold.all({ url, error, now }).map(({ id }) => id),
    /** Moves the first try of a target's deliveries. */
    moveUntried(url: string, dueAt: number): void {
      moveUntried.run({ url, dueAt });
    },
    again(id: number, now: number): void {
      again.run(now, now, id);
    },
    /** Newest first, those before that id. */
    list: (state: DeliveryState | undefined, before: number, limit: number): DeliveryRow[] =>
      state === undefined ? newest.all(before, limit) : ofState.all(state, before, limit),
    /** Counts deliveries by state. */
    counts(): Record<DeliveryState, number> {
      const found = { pending: 0, delivered: 0, dead: 0 };
      for (const { state, n } of counts.all()) found[state] = n;
      return found;
    },
    /** Returns each target whose pending deliveries have failed, with the reason. */
    listProblems: (): DeliveryProblem[] =>
      pendingUrls.all().flatMap(({ url }) => {
        const problem = problemOf.get(url)?.last_error;
        return problem === undefined ? [] : [{ target: shownTarget(url), problem }];
      }),
    /** Deletes deliveries that were settled long ago. */
    purge(now: number): void {
      purge.run(now - KEEP_DELIVERED_MS, now - KEEP_DEAD_MS);
    },
  };
}

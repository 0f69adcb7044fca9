import type { Storage } from '../../storage/index.ts';
import type { MessageDeliveryState, MessageRow } from '../messages/rows.ts';

/** The delivery state of a message's notice, as it is recorded. */
export interface SettledDelivery {
  state: MessageDeliveryState;
  /** ms; null while it waits for a session to appear. */
  nextAt: number | null;
  deliveredAt: number | null;
  error: string | null;
  /** True if an attempt was made. */
  tried: boolean;
}

export interface PendingRows {
  get(id: number): MessageRow | undefined;
  /** Ids in the order of writing. */
  due(now: number): number[];
  /** Lists ids that wait for a session to appear. */
  waiting(): number[];
  /** Returns when the next one after `now` is due. */
  nextAfter(now: number): number | null;
  lastId(): number;
  /** Inside `storage.write`. */
  settle(id: number, settled: SettledDelivery): void;
}

export function createPendingRows({ db }: Storage): PendingRows {
  const get = db.prepare<unknown[], MessageRow>(
    "SELECT * FROM message WHERE id = ? AND delivery = 'pending'",
  );
  const due = db
    .prepare<unknown[], number>(
      "SELECT id FROM message WHERE delivery = 'pending' AND next_at <= ? ORDER BY +id",
    )
    .pluck();
  const waiting = db
    .prepare<unknown[], number>(
      "SELECT id FROM message WHERE delivery = 'pending' AND next_at IS NULL ORDER BY +id",
    )
    .pluck();
  const next = db
    .prepare<unknown[], number | null>(
      "SELECT min(next_at) FROM message WHERE delivery = 'pending' AND next_at > ?",
    )
    .pluck();
  const last = db.prepare<unknown[], number | null>('SELECT max(id) FROM message').pluck();
  const settle = db.prepare(`UPDATE message SET delivery = ?, next_at = ?, delivered_at = ?, last_error = ?,
    attempts = attempts + ? WHERE id = ? AND delivery = 'pending'`);
  return {
    get: (id) => get.get(id),
    due: (now) => due.all(now),
    waiting: () => waiting.all(),
    nextAfter: (now) => next.get(now) ?? null,
    lastId: () => last.get() ?? 0,
    settle(id, { state, nextAt, deliveredAt, error, tried }) {
      settle.run(state, nextAt, deliveredAt, error, tried ? 1 : 0, id);
    },
  };
}

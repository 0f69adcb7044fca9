import type { CallAuthor } from '../../core/api/operation.ts';
import { UNTIL_ANSWERED } from '../../core/api/state-words.ts';
import type { Clock } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { SvcError } from '../../core/base/errors.ts';
import { asWorkerSession, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { AskNotice } from './notice.ts';
import { type AskQueries, createAskQueries } from './queries.ts';
import { askClosedError } from './refusals.ts';
import { type Ask, type AskRow, type SymbolRef, toAsk } from './rows.ts';
import { createAskWaiters } from './waiters.ts';

export { askClosedError } from './refusals.ts';
export { ASK_STATUSES, type Ask, type SymbolRef } from './rows.ts';

export interface NewAsk {
  /** Null if the asker has no session. */
  from: string | null;
  taskId: string | null;
  /** A session, or the Chair's seat. */
  to: string;
  /** The project whose Chair is asked. */
  project: string | null;
  question: string;
  context: string | null;
  options: readonly string[];
  timeoutSec: number;
}

export interface NewAnswer {
  answer: string;
  by: string;
  symbolRef: SymbolRef | null;
}

/** Owns the questions that agents wait on. Methods that change something are called inside `storage.write`. */
export interface Asks extends AskQueries {
  /** Throws `not_found`. */
  get(askId: number): Ask;
  open(ask: NewAsk, by: CallAuthor): Ask;
  /** Throws `ask_closed`, except when the same answerer repeats the same answer. */
  answer(askId: number, answer: NewAnswer, by: CallAuthor): Ask;
  /** Resolves once the ask is no longer open. Rejects with `cancelled` on abort; the ask stays open. */
  wait(askId: number, signal: AbortSignal): Promise<Ask>;
  /** Times out an open ask whose asker does not wait for it any more. */
  withdraw(askId: number, by: CallAuthor): void;
  /** Times out the session's open asks. Call inside the transaction that ends it, or resumes it without an answer. */
  sessionEnded(sessionId: string): void;
  /** Reports whether a question holds a session up; see `AskHold`. */
  findHold(sessionId: string): AskHold;
  /** Keeps the session's open asks until they are answered. Returns those, and the answered ones that were kept. */
  keepOf(sessionId: string): KeptAsks;
  /** Times out asks that expired while no engine ran, and from then on each one when it expires. */
  start(): void;
  close(): void;
}

/**
 * How an open question holds up its session: `open` with its own time limit, `pausable` while its usual time lasts,
 * and `overdue` after that, when the session pauses until the answer.
 */
export type AskHold = 'none' | 'open' | 'pausable' | 'overdue';

export interface KeptAsks {
  open: Ask[];
  answered: Ask[];
}

/** The usual time of a question, which its worker has not chosen. */
export const USUAL_TIMEOUT_SEC = 600;

/** How long a worker may take to call again after a start of the engine. */
const RETURN_MS = 30_000;
const RETURN_LOOK_MS = 1000;

/** Pause after a failed write, so that a full disk is not written to in a loop. */
const PAUSE_MS = 1000;

export function createAsks({
  storage,
  events,
  clock,
  notice,
  pauses,
  answered,
}: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  notice: AskNotice;
  /** True if a worker pauses when no one answers: `asks.on_timeout`. */
  pauses(): boolean;
  /** Called inside the transaction that answers a worker's question. */
  answered(sessionId: string): void;
}): Asks {
  const { db } = storage;
  const queries = createAskQueries(db);
  const byId = db.prepare<unknown[], AskRow>('SELECT * FROM ask WHERE id = ?');
  const insert = db.prepare<unknown[], AskRow>(`INSERT INTO ask
    (status, from_session, task_id, to_session, project, question, context, options, created_at, expires_at)
    VALUES ('open', ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`);
  const setAnswered = db.prepare<unknown[], AskRow>(`UPDATE ask
    SET status = 'answered', answered_at = ?, answered_by = ?, answer = ?, symbol_ref = ?
    WHERE id = ? AND status = 'open' RETURNING *`);
  const overdue = db.prepare<unknown[], { id: number }>(
    `SELECT id FROM ask WHERE status = 'open' AND expires_at <= ?`,
  );
  const setExpired = db.prepare<unknown[], AskRow>(
    `UPDATE ask SET status = 'timeout' WHERE id = ? AND status = 'open' RETURNING *`,
  );
  const setWithdrawn = db.prepare<unknown[], AskRow>(
    `UPDATE ask SET status = 'timeout' WHERE status = 'open' AND id = ? AND expires_at < ${UNTIL_ANSWERED} RETURNING *`,
  );
  const usual = `status = 'open' AND expires_at - created_at = ${USUAL_TIMEOUT_SEC * 1000} AND from_session GLOB 's-[0-9]*'`;
  const usualOverdue = db.prepare<unknown[], { id: number }>(
    `SELECT id FROM ask WHERE expires_at <= ? AND ${usual}`,
  );
  const keep = db.prepare(`UPDATE ask SET expires_at = ${UNTIL_ANSWERED} WHERE id = ?`);
  const ofSession = db.prepare<unknown[], AskRow>(
    `SELECT * FROM ask WHERE from_session = ? AND (+status = 'open' OR expires_at >= ${UNTIL_ANSWERED}) ORDER BY +id`,
  );
  const setLeft = db.prepare<unknown[], AskRow>(
    `UPDATE ask SET status = 'timeout' WHERE status = 'open' AND from_session = ? RETURNING *`,
  );

  const waiters = createAskWaiters(get);
  /** Asks changed by the current transaction, or by one that failed; their state is read after the next commit. */
  const changed = new Set<number>();
  const timer = createDueTimer({ clock, onDue: expireAndSleep });
  let isClosed = false;

  function get(askId: number): Ask {
    const row = byId.get(askId);
    if (row) return toAsk(row);
    throw new SvcError('not_found', `no ask ${askId}`, { hint: sentence`{ask.list} lists the open asks` });
  }

  /** Records a change of an ask, inside the same transaction. */
  function recordChange(
    kind: 'ask_opened' | 'ask_answered' | 'ask_timeout',
    ask: Ask,
    by: { actor: string | null; via: string },
    more: { by?: string; reason: string },
  ): void {
    changed.add(ask.id);
    if (kind === 'ask_opened') notice.opened(ask);
    else notice.closed(ask);
    events.append({
      kind,
      taskId: ask.taskId,
      sessionId: asWorkerSession(ask.fromSession),
      ...by,
      // The texts are for asker and answerer only; followers of events only learn that it happened.
      data: { ask_id: ask.id, from: ask.fromSession, to: ask.toSession, project: ask.project, ...more },
    });
  }

  function recordTimeouts(rows: readonly AskRow[], reason: string): void {
    for (const row of rows)
      recordChange('ask_timeout', toAsk(row), { actor: null, via: 'engine' }, { reason });
  }

  const mayBeKept = (row: AskRow): boolean =>
    row.status === 'open' &&
    row.expires_at - row.created_at === USUAL_TIMEOUT_SEC * 1000 &&
    waiters.has(row.id);

  /** Questions whose time passed without an engine: the workers that wait for them have yet to call again. */
  const returning = { ids: new Set<number>(), until: 0 };

  function expireOverdue(): void {
    const now = clock.now();
    // One that is only asked, and not waited for, holds no one up.
    if (pauses()) for (const { id } of usualOverdue.all(now)) if (waiters.has(id)) keep.run(id);
    if (now >= returning.until) returning.ids.clear();
    const ids = overdue.all(now).filter(({ id }) => !returning.ids.has(id));
    recordTimeouts(
      ids.flatMap(({ id }) => setExpired.get(id) ?? []),
      'no one answered in time',
    );
  }

  function sleepUntilNext(atLeastMs = 0): void {
    const wait = returning.ids.size === 0 ? 0 : returning.until - clock.now();
    if (!isClosed)
      timer.sleepUntil(queries.nextExpiry(), Math.max(atLeastMs, Math.min(wait, RETURN_LOOK_MS)));
  }

  /** Gives the workers that ask time to call again, if their questions may be kept. */
  function awaitReturning(): void {
    if (!pauses()) return;
    returning.until = clock.now() + RETURN_MS;
    for (const { id } of usualOverdue.all(clock.now())) returning.ids.add(id);
  }

  function expireAndSleep(): void {
    storage.write(expireOverdue).then(
      () => sleepUntilNext(),
      () => sleepUntilNext(PAUSE_MS),
    );
  }

  const unfollow = storage.onCommit(() => {
    if (changed.size === 0) return;
    for (const askId of changed) {
      const row = waiters.has(askId) ? byId.get(askId) : undefined;
      if (row !== undefined && row.status !== 'open') waiters.settle(toAsk(row));
    }
    changed.clear();
    sleepUntilNext();
  });

  return {
    ...queries,
    get,
    open(ask, by) {
      const now = clock.now();
      const taskNumber = ask.taskId === null ? null : parseId('t', ask.taskId);
      const row = insert.get(
        ask.from,
        taskNumber,
        ask.to,
        ask.project,
        ask.question,
        ask.context,
        JSON.stringify(ask.options),
        now,
        now + ask.timeoutSec * 1000,
      ) as AskRow;
      const opened = toAsk(row);
      recordChange('ask_opened', opened, by, { reason: `waits for ${ask.to}` });
      return opened;
    },
    answer(askId, { answer, by: answeredBy, symbolRef }, by) {
      const ref = symbolRef === null ? null : JSON.stringify(symbolRef);
      const row = setAnswered.get(clock.now(), answeredBy, answer, ref, askId);
      if (row !== undefined) {
        recordChange('ask_answered', toAsk(row), by, { by: answeredBy, reason: 'answered' });
        const asker = asWorkerSession(toAsk(row).fromSession);
        if (asker !== null) answered(asker);
        return toAsk(row);
      }
      const ask = get(askId);
      if (ask.status === 'answered' && ask.answer === answer && ask.answeredBy === answeredBy) return ask;
      throw askClosedError(ask);
    },
    wait: waiters.wait,
    withdraw(askId, by) {
      const row = setWithdrawn.get(askId);
      if (row !== undefined) recordChange('ask_timeout', toAsk(row), by, { reason: 'the asker withdrew it' });
    },
    sessionEnded(sessionId) {
      recordTimeouts(setLeft.all(sessionId), 'the session ended');
    },
    findHold(sessionId) {
      const rows = ofSession.all(sessionId).filter(({ status }) => status === 'open');
      if (rows.length === 0) return 'none';
      if (rows.some((row) => row.expires_at >= UNTIL_ANSWERED)) return 'overdue';
      return pauses() && rows.some(mayBeKept) ? 'pausable' : 'open';
    },
    keepOf(sessionId) {
      for (const row of ofSession.all(sessionId)) if (mayBeKept(row)) keep.run(row.id);
      const asks = ofSession.all(sessionId).map(toAsk);
      return {
        open: asks.filter(({ status }) => status === 'open'),
        answered: asks.filter(({ status }) => status === 'answered'),
      };
    },
    start() {
      awaitReturning();
      expireAndSleep();
    },
    close() {
      isClosed = true;
      timer.close();
      unfollow();
      waiters.close();
    },
  };
}

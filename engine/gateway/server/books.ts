import Database from 'better-sqlite3';
import { makePrivateFile } from '../../core/base/private-files.ts';
import { applySchema } from '../../storage/index.ts';
import { CALL_TOKENS } from '../books/counters.ts';
import { BOOKS_SCHEMA, booksPath, CALL_COLUMNS, type CallRow } from '../books/schema.ts';

/** The budget that refused a call. */
export interface BudgetExhaustion {
  at: number;
  scope: 'day' | 'task';
  subject: string;
  limitTokens: number;
  /** True if nothing is left; false if calls in progress have reserved the rest. */
  isSpent: boolean;
  /** Unix ms; null if waiting does not help. */
  until: number | null;
  sessionId: number | null;
  taskId: number | null;
}

/** The gateway's own database: one row per call, from before it is forwarded until it is over. */
export interface UsageBooks {
  /** Returns a number that is unique among all gateway processes, and larger than earlier ones. */
  nextId(): number;
  /** Records the current state of a call; it is saved at most `SAVE_MS` later, together with other changes. */
  note(call: CallRow): void;
  noteExhausted(found: BudgetExhaustion): void;
  spentOnDay(day: string): number;
  spentByTask(taskId: number): number;
  /** Saves all changes now. */
  save(): void;
  close(): void;
}

/**
 * A kill -9 may lose calls that started less than that before, and the outcome of a call since its last record.
 * Nothing is synchronised to disk: saved data is in the kernel and survives the process, but not a power cut.
 */
export const SAVE_MS = 10;

const SUM = `coalesce(sum(${CALL_TOKENS}), 0) AS tokens`;

export function openBooks(data: string, { now, isAlone }: { now(): number; isAlone: boolean }): UsageBooks {
  const path = booksPath(data);
  makePrivateFile(path);
  const db = new Database(path, { timeout: 1000 });
  db.pragma('trusted_schema = OFF');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('cache_size = -2000');
  applySchema(db, path, [BOOKS_SCHEMA]);
  // A call that was open when the process was killed has recorded its reservation or its usage.
  if (isAlone) db.prepare("UPDATE call SET outcome = 'lost', ended_at = ? WHERE outcome = 'open'").run(now());

  const updates = CALL_COLUMNS.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`);
  const put = db.prepare(
    `INSERT INTO call (${CALL_COLUMNS.join(', ')}) VALUES (${CALL_COLUMNS.map(() => '?').join(', ')})
     ON CONFLICT (id) DO UPDATE SET ${updates.join(', ')}`,
  );
  const exhaust = db.prepare(
    `INSERT OR IGNORE INTO exhausted (at, scope, subject, limit_tokens, until, session_id, task_id)
     VALUES (@at, @scope, @subject, @limitTokens, @until, @sessionId, @taskId)`,
  );
  const refuse = db.prepare(
    'INSERT INTO refused_session (session_id, until) VALUES (?, ?) ON CONFLICT (session_id) DO UPDATE SET until = excluded.until',
  );
  const byDay = db.prepare<[string], { tokens: number }>(`SELECT ${SUM} FROM call WHERE day = ?`);
  const byTask = db.prepare<[number], { tokens: number }>(`SELECT ${SUM} FROM call WHERE task_id = ?`);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');

  const changed = new Map<number, CallRow>();
  let exhausted: BudgetExhaustion[] = [];
  let timer: NodeJS.Timeout | null = null;
  let lastId = 0;

  function saveBooks(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (changed.size === 0 && exhausted.length === 0) return;
    try {
      begin.run();
      for (const call of changed.values()) put.run(CALL_COLUMNS.map((name) => call[name]));
      for (const each of exhausted) {
        const { isSpent, ...row } = each;
        if (isSpent) exhaust.run(row);
        if (each.sessionId !== null && each.until !== null) refuse.run(each.sessionId, each.until);
      }
      commit.run();
    } catch {
      // The disk is full or a reader blocks it: the record stays pending and is retried.
      if (db.inTransaction) rollback.run();
      saveSoon(1000);
      return;
    }
    changed.clear();
    exhausted = [];
  }

  function saveSoon(ms: number): void {
    timer ??= setTimeout(saveBooks, ms);
  }

  return {
    nextId() {
      lastId = Math.max(lastId + 1, now() * 1000 + Math.floor(Math.random() * 1000));
      return lastId;
    },
    note(call) {
      changed.set(call.id, call);
      saveSoon(SAVE_MS);
    },
    noteExhausted(found) {
      exhausted.push(found);
      saveSoon(SAVE_MS);
    },
    spentOnDay: (day) => byDay.get(day)?.tokens ?? 0,
    spentByTask: (taskId) => byTask.get(taskId)?.tokens ?? 0,
    save: saveBooks,
    close() {
      saveBooks();
      if (timer !== null) clearTimeout(timer);
      db.close();
    },
  };
}

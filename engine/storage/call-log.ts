import type { Database } from 'better-sqlite3';
import type { CallLog } from '../core/api/repeat.ts';
import type { GroupCommit } from './group-commit.ts';

interface CallRow {
  input: string;
  is_answer: number;
  value: string;
}

/** Clients repeat a call within seconds. */
const KEPT_MS = 60 * 60_000;
/** One hour of calls, except for extreme rates. */
const MOST_KEPT = 100_000;
const CLEAN_EVERY = 200;
/** Maximum per transaction, because others wait for it. */
const MOST_CLEANED = 1000;

/** Creates the call log, which records calls in the same transaction as their changes. */
export function createCallLog(db: Database, write: GroupCommit['write']): CallLog {
  const get = db.prepare<unknown[], CallRow>(
    'SELECT input, is_answer, value FROM call WHERE caller = ? AND operation = ? AND key = ?',
  );
  const last = db.prepare<unknown[], { key: string; at: number }>(
    'SELECT key, at FROM call WHERE caller = ? AND operation = ? AND key >= ? AND key < ? ORDER BY at DESC LIMIT 1',
  );
  const put =
    db.prepare(`INSERT INTO call (caller, operation, key, input, is_answer, value, at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (caller, operation, key) DO UPDATE SET is_answer = excluded.is_answer, value = excluded.value`);
  const clean =
    db.prepare(`DELETE FROM call WHERE id IN (SELECT id FROM call ORDER BY id LIMIT ${MOST_CLEANED})
    AND (at < ? OR id <= (SELECT max(id) FROM call) - ${MOST_KEPT})`);
  let kept = 0;

  return {
    write,
    find({ caller, operation, key }) {
      const row = get.get(caller, operation, key);
      if (row === undefined) return null;
      return { input: row.input, isAnswer: row.is_answer === 1, value: JSON.parse(row.value) };
    },
    findLast({ caller, operation, prefix }) {
      return last.get(caller, operation, prefix, `${prefix}\u{10ffff}`) ?? null;
    },
    keep({ caller, operation, key }, { input, isAnswer, value }) {
      const now = Date.now();
      if (kept % CLEAN_EVERY === 0) clean.run(now - KEPT_MS);
      kept += 1;
      put.run(caller, operation, key, input, isAnswer ? 1 : 0, JSON.stringify(value ?? null), now);
    },
  };
}

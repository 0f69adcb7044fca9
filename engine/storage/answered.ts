import type { Database } from 'better-sqlite3';
import type { GroupCommit } from './group-commit.ts';

export interface Answered {
  once<T>(operation: string, key: string | null, work: () => T): Promise<T>;
  findAnswerTo<T>(operation: string, key: string | null): T | undefined;
}

/** Clients send a call again within seconds. */
const KEPT_MS = 60 * 60_000;
const CLEAN_EVERY = 200;

/** Remembers answers by their call, in the same transaction as the change they report. */
export function createAnswered(db: Database, write: GroupCommit['write']): Answered {
  const get = db.prepare<unknown[], { answer: string }>('SELECT answer FROM answered WHERE call = ?');
  const keep = db.prepare('INSERT INTO answered (call, answer, at) VALUES (?, ?, ?)');
  const clean = db.prepare('DELETE FROM answered WHERE at < ?');
  let kept = 0;

  const formatCallName = (operation: string, key: string): string => `${operation} ${key}`;

  function findAnswerTo<T>(operation: string, key: string | null): T | undefined {
    const row = key === null ? undefined : get.get(formatCallName(operation, key));
    return row === undefined ? undefined : (JSON.parse(row.answer) as T);
  }

  return {
    findAnswerTo,
    once<T>(operation: string, key: string | null, work: () => T): Promise<T> {
      if (key === null) return write(work);
      return write(() => {
        const before = findAnswerTo<T>(operation, key);
        if (before !== undefined) return before;
        const answer = work();
        const now = Date.now();
        if (kept % CLEAN_EVERY === 0) clean.run(now - KEPT_MS);
        kept += 1;
        keep.run(formatCallName(operation, key), JSON.stringify(answer), now);
        return answer;
      });
    },
  };
}

import Database from 'better-sqlite3';
import { isStillRunning } from '../../runner/processes/own.ts';
import { hashVirtualKey, KEY_PREFIX } from '../keys/virtual-key.ts';

/** Whose call it is: a run's, or a person's own. */
export type Holder =
  | { kind: 'run'; sessionId: number; taskId: number; budgetTokens: number | null }
  | { kind: 'person'; name: string };

/** Finds who holds a virtual key. */
export interface Holders {
  /** Null for a key that was never issued or holds no longer. */
  find(key: string): Holder | null;
  /** Whether any run holds a key: it may call at any time. */
  hasRuns(): boolean;
  close(): void;
}

interface Row {
  session_id: number;
  task_id: number;
  budget_tokens: number | null;
}

/**
 * Reads the engine's database, at every call anew: a key holds from the commit that issues it to the one that revokes it.
 * It never writes there, and takes no lock that the engine would wait for.
 */
export function openHolders(path: string): Holders {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 300 });
  db.pragma('trusted_schema = OFF');
  const findRun = db.prepare<[Buffer], Row>(
    'SELECT session_id, task_id, budget_tokens FROM virtual_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const findPerson = db.prepare<[Buffer], { name: string; pid: number | null; pid_start: string | null }>(
    'SELECT name, pid, pid_start FROM person_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const anyRun = db.prepare('SELECT 1 FROM virtual_key WHERE revoked_at IS NULL LIMIT +1');
  return {
    find(key) {
      if (!key.startsWith(KEY_PREFIX)) return null;
      const hash = hashVirtualKey(key);
      const run = findRun.get(hash);
      if (run !== undefined)
        return {
          kind: 'run',
          sessionId: run.session_id,
          taskId: run.task_id,
          budgetTokens: run.budget_tokens,
        };
      const person = findPerson.get(hash);
      if (person === undefined) return null;
      const { name, pid, pid_start: pidStart } = person;
      // A process that was killed has ended its key as well, although nobody was left to remove it.
      const isEnded = pid !== null && pidStart !== null && !isStillRunning({ pid, pidStart });
      return isEnded ? null : { kind: 'person', name };
    },
    hasRuns: () => anyRun.get() !== undefined,
    close: () => db.close(),
  };
}

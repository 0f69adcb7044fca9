import Database from 'better-sqlite3';
import { isStillRunning } from '../../workers/runner/processes/own.ts';
import { hashVirtualKey, KEY_PREFIX } from '../keys/virtual-key.ts';

/** The owner of a call: a run, or a person. */
export type KeyHolder =
  | {
      kind: 'run';
      sessionId: number;
      taskId: number;
      budgetTokens: number | null;
      /** Tokens that the task has used outside the gateway. */
      claimedTokens: number;
    }
  | { kind: 'person'; name: string };

/** Finds the holder of a virtual key. */
export interface KeyHolders {
  /** Returns null for a key that was never issued or is no longer valid. */
  find(key: string): KeyHolder | null;
  /** Reports whether any run holds a key: it may call at any time. */
  hasRuns(): boolean;
  close(): void;
}

interface Row {
  session_id: number;
  task_id: number;
  budget_tokens: number | null;
  claimed_tokens: number;
}

/** Keys that are cached between two commits of the engine; a run has one, a person a few. */
const MOST_KEYS = 1000;

/** The holder of a key, and the process that it ends with. */
interface Found {
  holder: KeyHolder;
  owner: { pid: number; pidStart: string } | null;
}

/**
 * Reads the engine's database: a key is valid from the commit that issues it to the commit that revokes it. Results
 * are cached until SQLite reports a commit. It never writes there, and takes no lock that the engine would wait for.
 */
export function openHolders(path: string): KeyHolders {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 300 });
  db.pragma('trusted_schema = OFF');
  const findRun = db.prepare<[Buffer], Row>(
    'SELECT session_id, task_id, budget_tokens, claimed_tokens FROM virtual_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const findPerson = db.prepare<[Buffer], { name: string; pid: number | null; pid_start: string | null }>(
    'SELECT name, pid, pid_start FROM person_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const anyRun = db.prepare('SELECT 1 FROM virtual_key WHERE revoked_at IS NULL LIMIT +1');
  const readVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const known = new Map<string, Found | null>();
  let version = -1;

  function readHolder(key: string): Found | null {
    const hash = hashVirtualKey(key);
    const run = findRun.get(hash);
    if (run !== undefined) {
      const { session_id: sessionId, task_id: taskId, budget_tokens: budgetTokens } = run;
      const holder: KeyHolder = {
        ...{ kind: 'run', sessionId, taskId, budgetTokens },
        claimedTokens: run.claimed_tokens,
      };
      return { holder, owner: null };
    }
    const person = findPerson.get(hash);
    if (person === undefined) return null;
    const { name, pid, pid_start: pidStart } = person;
    const owner = pid === null || pidStart === null ? null : { pid, pidStart };
    return { holder: { kind: 'person', name }, owner };
  }

  return {
    find(key) {
      if (!key.startsWith(KEY_PREFIX)) return null;
      const now = readVersion.get() ?? -1;
      // Unknown keys are cached too, but attempts must not fill the memory.
      if (now !== version || known.size >= MOST_KEYS) known.clear();
      version = now;
      let found = known.get(key);
      if (found === undefined) {
        found = readHolder(key);
        known.set(key, found);
      }
      if (found === null) return null;
      // A killed process also ends its key, although nothing was left to remove it.
      return found.owner === null || isStillRunning(found.owner) ? found.holder : null;
    },
    hasRuns: () => anyRun.get() !== undefined,
    close: () => db.close(),
  };
}

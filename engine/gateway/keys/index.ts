import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Storage } from '../../storage/index.ts';
import { isStillRunning, readProcessStart } from '../../workers/runner/processes/own.ts';
import { createVirtualKey, hashVirtualKey } from './virtual-key.ts';

/** The run that a gateway call belongs to. */
export interface KeyHolder {
  sessionId: string;
  taskId: string;
  /** Tokens that the task may spend; null for no limit. */
  budgetTokens: number | null;
  /** Tokens that its agents have used outside the gateway, as they claim. */
  claimedTokens: number;
}

/** A key that a person has for their own agents. */
export interface PersonKey {
  name: string;
  createdAt: string;
}

/** Owns the virtual keys, stored as hashes only: one per session while it runs, and keys of persons. */
export interface GatewayKeys {
  /** Issues a new key inside `storage.write`; earlier keys of the session become invalid. */
  issueKey(holder: KeyHolder): string;
  /** Runs inside `storage.write`. */
  revokeKey(sessionId: string): void;
  /** Finds the holder of a run's key; null if it was never issued or is no longer valid. */
  verifyKey(key: string): KeyHolder | null;
  /** Records, inside `storage.write`, that a provider told the holder to wait until then, Unix ms. */
  limitKey(key: string, until: number): void;
  /** Returns when the session's last key was issued, Unix ms; null if it never had one. */
  issuedAt(sessionId: string): number | null;
  /** Returns the limit of the session's last key; null if there is none. */
  limitedUntil(sessionId: string): number | null;
  /**
   * Creates, inside `storage.write`, a key of a person, shown only once. It ends with the process of that pid; null
   * keeps it until it is removed. Throws `exists`, and `usage` for a process that does not exist.
   */
  addPersonKey(name: string, pid: number | null): string;
  /** Runs inside `storage.write`. Throws `not_found`. */
  removePersonKey(name: string): void;
  listPersonKeys(): PersonKey[];
  /** Reports whether any run holds a key. */
  hasRunKeys(): boolean;
}

interface Row {
  session_id: number;
  task_id: number;
  budget_tokens: number | null;
  claimed_tokens: number;
}

interface PersonRow {
  name: string;
  created_at: number;
  pid: number | null;
  pid_start: string | null;
}

/** Reports whether the process of a key has ended. */
const isLeftBehind = ({ pid, pid_start: pidStart }: PersonRow): boolean =>
  pid !== null && pidStart !== null && !isStillRunning({ pid, pidStart });

export function createKeys({ storage, clock }: { storage: Storage; clock: Clock }): GatewayKeys {
  const { db } = storage;
  const insert = db.prepare(
    'INSERT INTO virtual_key (hash, session_id, task_id, budget_tokens, claimed_tokens, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const end = db.prepare('UPDATE virtual_key SET revoked_at = ? WHERE session_id = ? AND revoked_at IS NULL');
  const find = db.prepare<unknown[], Row>(
    'SELECT session_id, task_id, budget_tokens, claimed_tokens FROM virtual_key WHERE hash = ? AND revoked_at IS NULL',
  );
  const setLimit = db.prepare('UPDATE virtual_key SET limited_until = ? WHERE hash = ?');
  const last = db.prepare<unknown[], { limited_until: number | null; created_at: number }>(
    'SELECT limited_until, created_at FROM virtual_key WHERE session_id = ? ORDER BY id DESC LIMIT 1',
  );
  const anyRun = db.prepare('SELECT 1 FROM virtual_key WHERE revoked_at IS NULL LIMIT +1');
  const insertPerson = db.prepare(
    'INSERT INTO person_key (hash, name, created_at, pid, pid_start) VALUES (?, ?, ?, ?, ?)',
  );
  const endPerson = db.prepare('UPDATE person_key SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL');
  const persons = db.prepare<unknown[], PersonRow>(
    'SELECT name, created_at, pid, pid_start FROM person_key WHERE revoked_at IS NULL ORDER BY name',
  );

  const revokeKey = (sessionId: string): void => void end.run(clock.now(), parseId('s', sessionId));
  const listPersonKeys = (): PersonKey[] =>
    persons
      .all()
      .filter((row) => !isLeftBehind(row))
      .map(({ name, created_at }) => ({ name, createdAt: new Date(created_at).toISOString() }));

  return {
    issueKey({ sessionId, taskId, budgetTokens, claimedTokens }) {
      revokeKey(sessionId);
      const key = createVirtualKey();
      insert.run(
        hashVirtualKey(key),
        parseId('s', sessionId),
        parseId('t', taskId),
        budgetTokens,
        claimedTokens,
        clock.now(),
      );
      return key;
    },
    revokeKey,
    verifyKey(key) {
      const row = find.get(hashVirtualKey(key));
      return row === undefined
        ? null
        : {
            sessionId: formatId('s', row.session_id),
            taskId: formatId('t', row.task_id),
            budgetTokens: row.budget_tokens,
            claimedTokens: row.claimed_tokens,
          };
    },
    limitKey(key, until) {
      setLimit.run(until, hashVirtualKey(key));
    },
    issuedAt: (sessionId) => last.get(parseId('s', sessionId))?.created_at ?? null,
    limitedUntil: (sessionId) => last.get(parseId('s', sessionId))?.limited_until ?? null,
    addPersonKey(name, pid) {
      for (const row of persons.all().filter(isLeftBehind)) endPerson.run(clock.now(), row.name);
      const pidStart = pid === null ? null : readProcessStart(pid);
      if (pid !== null && pidStart === null) throw new SvcError('usage', `there is no process ${pid}`);
      if (listPersonKeys().some((each) => each.name === name))
        throw new SvcError('exists', `a key ${JSON.stringify(name)} already exists`, {
          hint: sentence`{gateway.remove_key ${name}} ends it; a key is shown only once`,
        });
      const key = createVirtualKey();
      insertPerson.run(hashVirtualKey(key), name, clock.now(), pid, pidStart);
      return key;
    },
    removePersonKey(name) {
      if (endPerson.run(clock.now(), name).changes === 0)
        throw new SvcError('not_found', `no key ${JSON.stringify(name)}`, {
          hint: sentence`{gateway.keys} lists them`,
        });
    },
    listPersonKeys,
    hasRunKeys: () => anyRun.get() !== undefined,
  };
}

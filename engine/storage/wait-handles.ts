import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { GroupCommit } from './group-commit.ts';

/** A call that waits for a person or a worker, and whose client has got a handle instead of the result. */
export interface WaitHandle {
  /** Cannot be guessed. */
  id: string;
  /** The caller, who alone may use it. */
  owner: string;
  tool: string;
  input: Record<string, unknown>;
  /** The key of the call: under it every engine continues the same call. */
  key: string;
  state: 'working' | 'completed' | 'failed' | 'cancelled';
  /** The state that it waits for, or how it ended. */
  message: string;
  /** The result, or the protocol's error if it failed; null otherwise. */
  result: unknown;
  /** Both in ms since 1970. */
  createdAt: number;
  updatedAt: number;
}

export interface WaitHandles {
  /** Stores a new handle; returns the earlier one if the call has one. */
  create(call: Pick<WaitHandle, 'owner' | 'tool' | 'input' | 'key' | 'message'>): Promise<WaitHandle>;
  /** Returns null for an unknown id, and for a handle of another owner. */
  find(id: string, owner: string): WaitHandle | null;
  /** Stores how a call ended, unless it has ended before. Returns the handle as it is then. */
  end(
    handle: WaitHandle,
    end: { state: Exclude<WaitHandle['state'], 'working'>; message: string; result: unknown },
  ): Promise<WaitHandle>;
  countWorking(owner: string): number;
}

/** How long a result is kept for its client, ms. */
export const RESULT_KEPT_MS = 24 * 60 * 60_000;

interface HandleRow {
  id: string;
  owner: string;
  tool: string;
  input: string;
  key: string;
  state: WaitHandle['state'];
  message: string;
  result: string | null;
  created_at: number;
  updated_at: number;
}

const toHandle = ({ input, result, created_at, updated_at, ...row }: HandleRow): WaitHandle => ({
  ...row,
  input: JSON.parse(input),
  result: result === null ? null : JSON.parse(result),
  createdAt: created_at,
  updatedAt: updated_at,
});

export function createWaitHandles(db: Database, write: GroupCommit['write']): WaitHandles {
  const byId = db.prepare<unknown[], HandleRow>('SELECT * FROM wait_handle WHERE id = ?');
  const byKey = db.prepare<unknown[], HandleRow>('SELECT * FROM wait_handle WHERE owner = ? AND key = ?');
  const insert = db.prepare(`INSERT INTO wait_handle
    (id, owner, tool, input, key, state, message, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, 'working', ?, ?, ?) ON CONFLICT (owner, key) DO NOTHING`);
  const setEnd = db.prepare(`UPDATE wait_handle SET state = ?, message = ?, result = ?, updated_at = ?
    WHERE id = ? AND state = 'working'`);
  const clean = db.prepare("DELETE FROM wait_handle WHERE state <> 'working' AND updated_at < ?");
  const working = db.prepare<unknown[], { n: number }>(
    "SELECT count(*) AS n FROM wait_handle WHERE owner = ? AND state = 'working'",
  );

  return {
    create: ({ owner, tool, input, key, message }) =>
      write(() => {
        const now = Date.now();
        clean.run(now - RESULT_KEPT_MS);
        const id = randomBytes(16).toString('base64url');
        insert.run(id, owner, tool, JSON.stringify(input), key, message, now, now);
        return toHandle(byKey.get(owner, key) as HandleRow);
      }),
    find(id, owner) {
      const row = byId.get(id);
      return row === undefined || row.owner !== owner ? null : toHandle(row);
    },
    end: ({ id }, { state, message, result }) =>
      write(() => {
        setEnd.run(state, message, result === null ? null : JSON.stringify(result), Date.now(), id);
        return toHandle(byId.get(id) as HandleRow);
      }),
    countWorking: (owner) => working.get(owner)?.n ?? 0,
  };
}

import type { Clock } from '../../clock.ts';
import { SvcError } from '../../errors.ts';
import { findByPrefix, formatId, idArray, parseId, workerSession } from '../../ids.ts';
import type { Storage } from '../../storage/index.ts';
import {
  type Session,
  type SessionPrivate,
  type SessionRow,
  type SessionState,
  type StopReason,
  toSession,
} from './rows.ts';

export type { Session, SessionState, StopReason } from './rows.ts';

export interface NewSession {
  taskId: string;
  decisionId: string;
  title: string;
  agent: string;
  project: string | null;
  inplace: boolean;
  keepWorktree: boolean;
  base: string | null;
  /** A worker's given name: the same name is the same worker. */
  name: string | null;
  timeoutSec: number;
  idleTimeoutSec: number;
  /** The session that dispatched it. */
  parent: string | null;
  /** See `Call.key`. */
  callKey: string | null;
}

export interface Placement {
  repository: string | null;
  worktree: string | null;
  cwd: string;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
}

export interface SessionEnd {
  exitCode: number | null;
  exitSignal: string | null;
  failure: { code: string; text: string } | null;
  headCommit?: string | null;
  commits?: number | null;
  files?: number | null;
  insertions?: number | null;
  deletions?: number | null;
}

export interface SessionFilter {
  state?: SessionState | undefined;
  live?: boolean | undefined;
  ids?: readonly string[] | undefined;
  limit?: number | undefined;
}

/** Owns the register of worker sessions. What changes something runs inside `storage.write`. */
export interface Sessions {
  get(sessionId: string): Session;
  resolve(prefix: string): Session;
  /** Whether the id is that of a worker session. */
  isKnown(sessionId: string): boolean;
  /**
   * Newest first, without `ids` live ones and those of one state in the order of their turn; at most `limit` (100, or
   * as many as there are `ids`). What `ids` name and is not there is left out.
   */
  list(filter: SessionFilter): Session[];
  ofTask(taskId: string): Session[];
  /** The newest session that has the branch. */
  byBranch(branch: string): Session | null;
  private(sessionId: string): SessionPrivate;
  byRunId(runId: string): Session | null;
  /** The session that this very call has made. */
  byCall(key: string): Session | null;
  /** A worker's newest session, by its given name or `w-3`; null when there is no such worker. */
  newestOfWorker(workerId: string): Session | null;
  create(session: NewSession): Session;
  /** queued → starting under a new mark; also a start that is known never to have happened, again. */
  starting(sessionId: string, runId: string): void;
  place(sessionId: string, placement: Placement): void;
  /** starting → running. */
  running(sessionId: string, process: { pid: number; pidStart: string }): void;
  /** Records why it is being stopped; the first reason stays. False when it has one or has ended. */
  stopping(sessionId: string, reason: StopReason, actor: string): boolean;
  /** → ended, once: false when it had ended. */
  end(sessionId: string, end: SessionEnd): boolean;
  /** Ended sessions whose worktree is still on record. */
  endedWithWorktree(): Session[];
  worktreeGone(sessionId: string): void;
  promoted(sessionId: string, by: string): void;
  counts(): { queued: number; running: number };
}

const SELECT = 'SELECT s.*, w.name AS worker_name FROM session s JOIN worker w ON w.id = s.worker_id';

export function createSessions({ storage, clock }: { storage: Storage; clock: Clock }): Sessions {
  const { db } = storage;
  const byId = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.id = +?`);
  const byPrefix = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE CAST(s.id AS TEXT) LIKE +? LIMIT 2`);
  const byRun = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.run_id = +?`);
  const byCall = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.call_key = +?`);
  const newestOf = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE w.name = +? OR (w.name IS NULL AND w.id = +?) ORDER BY s.id DESC LIMIT 1`,
  );
  const newest = db.prepare<unknown[], SessionRow>(`${SELECT} ORDER BY s.id DESC LIMIT +?`);
  const ofState = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.state = +? ORDER BY s.id LIMIT +?`);
  const live = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.state <> 'ended' ORDER BY s.id LIMIT +?`);
  const among = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.id IN (SELECT value FROM json_each(?)) AND s.state = coalesce(?, s.state)
     AND (? = 0 OR s.state <> 'ended') ORDER BY s.id DESC LIMIT +?`,
  );
  const ofTaskId = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.task_id = +? ORDER BY s.id`);
  const branched = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.branch = +? ORDER BY s.id DESC LIMIT 1`,
  );
  const keeping = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.state = 'ended' AND s.worktree IS NOT NULL ORDER BY s.id`,
  );
  const secrets = db.prepare<unknown[], { run_id: string | null; pid_start: string | null }>(
    'SELECT run_id, pid_start FROM session WHERE id = ?',
  );
  const workerNamed = db.prepare<unknown[], { id: number }>('SELECT id FROM worker WHERE name = ?');
  const addWorker = db.prepare('INSERT INTO worker (name) VALUES (?)');
  const insert = db.prepare(`INSERT INTO session
    (task_id, decision_id, worker_id, title, agent, project, state, inplace, keep_worktree, base_wanted,
     timeout_sec, idle_timeout_sec, parent, call_key, created_at)
    VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?)`);
  const toStarting = db.prepare(
    `UPDATE session SET state = 'starting', run_id = ? WHERE id = ? AND state IN ('queued', 'starting')`,
  );
  const setPlace = db.prepare(
    'UPDATE session SET repository = ?, worktree = ?, cwd = ?, branch = ?, base = ?, base_commit = ? WHERE id = ?',
  );
  const toRunning = db.prepare(
    `UPDATE session SET state = 'running', pid = ?, pid_start = ?, started_at = coalesce(started_at, ?)
     WHERE id = ? AND state = 'starting'`,
  );
  const setStopping = db.prepare(
    `UPDATE session SET stop_reason = ?, stop_actor = ? WHERE id = ? AND state <> 'ended' AND stop_reason IS NULL`,
  );
  const toEnded =
    db.prepare(`UPDATE session SET state = 'ended', ended_at = ?, exit_code = ?, exit_signal = ?,
    failure_code = ?, failure_text = ?, head_commit = ?, commits = ?, files = ?, insertions = ?, deletions = ?
    WHERE id = ? AND state <> 'ended'`);
  const setGone = db.prepare('UPDATE session SET worktree = NULL WHERE id = ?');
  const setPromoted = db.prepare('UPDATE session SET promoted_at = ?, promoted_by = ? WHERE id = ?');
  const count = db.prepare<unknown[], { state: SessionState; n: number }>(
    `SELECT state, count(*) AS n FROM session WHERE state <> 'ended' GROUP BY state`,
  );

  function get(sessionId: string): Session {
    const row = byId.get(parseId('s', sessionId));
    if (!row) throw new SvcError('not_found', `no session ${sessionId}`);
    return toSession(row);
  }

  function workerFor(name: string | null): number {
    const known = name === null ? undefined : workerNamed.get(name);
    return known?.id ?? Number(addWorker.run(name).lastInsertRowid);
  }

  return {
    get,
    resolve: (prefix) =>
      toSession(
        findByPrefix('s', prefix, { exact: (id) => byId.get(id), like: (pattern) => byPrefix.all(pattern) }),
      ),
    isKnown: (sessionId) =>
      workerSession(sessionId) !== null && byId.get(parseId('s', sessionId)) !== undefined,
    list({ state, live: onlyLive = false, ids, limit = ids?.length ?? 100 }) {
      if (ids !== undefined) {
        return among.all(idArray('s', ids), state ?? null, onlyLive ? 1 : 0, limit).map(toSession);
      }
      if (state !== undefined) return ofState.all(state, limit).map(toSession);
      return (onlyLive ? live.all(limit) : newest.all(limit)).map(toSession);
    },
    ofTask: (taskId) => ofTaskId.all(parseId('t', taskId)).map(toSession),
    byBranch(branch) {
      const row = branched.get(branch);
      return row ? toSession(row) : null;
    },
    private(sessionId) {
      const row = secrets.get(parseId('s', sessionId));
      return { runId: row?.run_id ?? null, pidStart: row?.pid_start ?? null };
    },
    byRunId(runId) {
      const row = byRun.get(runId);
      return row ? toSession(row) : null;
    },
    byCall(key) {
      const row = byCall.get(key);
      return row ? toSession(row) : null;
    },
    newestOfWorker(workerId) {
      const counted = /^w-([1-9]\d{0,14})$/.exec(workerId);
      const row = newestOf.get(workerId, counted ? Number(counted[1]) : 0);
      return row ? toSession(row) : null;
    },
    create(session) {
      const { lastInsertRowid } = insert.run(
        parseId('t', session.taskId),
        parseId('d', session.decisionId),
        workerFor(session.name),
        session.title,
        session.agent,
        session.project,
        session.inplace ? 1 : 0,
        session.keepWorktree ? 1 : 0,
        session.base,
        session.timeoutSec,
        session.idleTimeoutSec,
        session.parent,
        session.callKey,
        clock.now(),
      );
      return get(formatId('s', Number(lastInsertRowid)));
    },
    starting(sessionId, runId) {
      if (toStarting.run(runId, parseId('s', sessionId)).changes === 0) {
        throw new SvcError('conflict', `${sessionId} is ${get(sessionId).state} and cannot be started`);
      }
    },
    place(sessionId, { repository, worktree, cwd, branch, base, baseCommit }) {
      setPlace.run(repository, worktree, cwd, branch, base, baseCommit, parseId('s', sessionId));
    },
    running(sessionId, { pid, pidStart }) {
      toRunning.run(pid, pidStart, clock.now(), parseId('s', sessionId));
    },
    stopping: (sessionId, reason, actor) =>
      setStopping.run(reason, actor, parseId('s', sessionId)).changes === 1,
    end(sessionId, end) {
      const { changes } = toEnded.run(
        clock.now(),
        end.exitCode,
        end.exitSignal,
        end.failure?.code ?? null,
        end.failure?.text ?? null,
        end.headCommit ?? null,
        end.commits ?? null,
        end.files ?? null,
        end.insertions ?? null,
        end.deletions ?? null,
        parseId('s', sessionId),
      );
      return changes === 1;
    },
    endedWithWorktree: () => keeping.all().map(toSession),
    worktreeGone(sessionId) {
      setGone.run(parseId('s', sessionId));
    },
    promoted(sessionId, by) {
      setPromoted.run(clock.now(), by, parseId('s', sessionId));
    },
    counts() {
      const counts = { queued: 0, running: 0 };
      for (const { state, n } of count.all()) {
        if (state === 'queued') counts.queued += n;
        else counts.running += n;
      }
      return counts;
    },
  };
}

import { rfc3339 } from '../../clock.ts';
import { formatId } from '../../ids.ts';

export type SessionState = 'queued' | 'starting' | 'running' | 'ended';

/** Why the engine ended a run; the exit code of a stopped program says nothing. */
export type StopReason = 'timeout' | 'idle_timeout' | 'cancelled';

/** One run of one worker. Times are RFC 3339 UTC. */
export interface Session {
  sessionId: string;
  taskId: string;
  decisionId: string;
  /** Stable over a worker's successive sessions. */
  workerId: string;
  /** The session that dispatched it, of whatever kind; null when a person or an automation did. */
  parent: string | null;
  title: string;
  agent: string;
  project: string | null;
  state: SessionState;
  inplace: boolean;
  keepWorktree: boolean;
  baseWanted: string | null;
  timeoutSec: number;
  idleTimeoutSec: number;
  pid: number | null;
  repository: string | null;
  worktree: string | null;
  cwd: string | null;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
  stopReason: StopReason | null;
  exitCode: number | null;
  exitSignal: string | null;
  failure: { code: string; text: string } | null;
  headCommit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  promotedAt: string | null;
  /** The session that promoted it, or the actor of one without. */
  promotedBy: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** What only the engine needs of a session. */
export interface SessionPrivate {
  /** The mark in the environment of the run's processes, and the token of its seat. */
  runId: string | null;
  /** Start time of `pid`, so that a reused pid is never taken for it. */
  pidStart: string | null;
}

export interface SessionRow {
  id: number;
  task_id: number;
  decision_id: number;
  worker_id: number;
  worker_name: string | null;
  parent: string | null;
  title: string;
  agent: string;
  project: string | null;
  state: SessionState;
  inplace: number;
  keep_worktree: number;
  base_wanted: string | null;
  timeout_sec: number;
  idle_timeout_sec: number;
  run_id: string | null;
  pid: number | null;
  pid_start: string | null;
  repository: string | null;
  worktree: string | null;
  cwd: string | null;
  branch: string | null;
  base: string | null;
  base_commit: string | null;
  stop_reason: StopReason | null;
  exit_code: number | null;
  exit_signal: string | null;
  failure_code: string | null;
  failure_text: string | null;
  head_commit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  promoted_at: number | null;
  promoted_by: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

const time = (ms: number | null): string | null => (ms === null ? null : rfc3339(ms));

export const toSession = (row: SessionRow): Session => ({
  sessionId: formatId('s', row.id),
  taskId: formatId('t', row.task_id),
  decisionId: formatId('d', row.decision_id),
  workerId: row.worker_name ?? formatId('w', row.worker_id),
  parent: row.parent,
  title: row.title,
  agent: row.agent,
  project: row.project,
  state: row.state,
  inplace: row.inplace === 1,
  keepWorktree: row.keep_worktree === 1,
  baseWanted: row.base_wanted,
  timeoutSec: row.timeout_sec,
  idleTimeoutSec: row.idle_timeout_sec,
  pid: row.pid,
  repository: row.repository,
  worktree: row.worktree,
  cwd: row.cwd,
  branch: row.branch,
  base: row.base,
  baseCommit: row.base_commit,
  stopReason: row.stop_reason,
  exitCode: row.exit_code,
  exitSignal: row.exit_signal,
  failure: row.failure_code === null ? null : { code: row.failure_code, text: row.failure_text ?? '' },
  headCommit: row.head_commit,
  commits: row.commits,
  files: row.files,
  insertions: row.insertions,
  deletions: row.deletions,
  promotedAt: time(row.promoted_at),
  promotedBy: row.promoted_by,
  createdAt: rfc3339(row.created_at),
  startedAt: time(row.started_at),
  endedAt: time(row.ended_at),
});

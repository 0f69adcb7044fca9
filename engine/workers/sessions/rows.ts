import { rfc3339 } from '../../core/base/clock.ts';
import { formatId, formatIdOrNull } from '../../core/base/ids.ts';
import type { OwnWord } from './outcome.ts';
import { formatRunnerId, type SessionSite, type SitePath } from './site.ts';
import { estimateByClaim, type SessionBooks, type SessionUsage, sumUsages } from './usage.ts';

export type SessionState = 'queued' | 'starting' | 'running' | 'ended';

/** Why the engine ended a run; the exit code of a stopped program means nothing. */
export type StopReason = 'timeout' | 'idle_timeout' | 'unanswered' | 'cancelled';

/** The fixed options of a session, from its request. Times are RFC 3339 UTC. */
export interface SessionOrder {
  sessionId: string;
  taskId: string;
  decisionId: string;
  /** Stable over a worker's successive sessions. */
  workerId: string;
  /** The session of any kind that dispatched it; null if a person or an automation did. */
  parent: string | null;
  title: string;
  agent: string;
  project: string | null;
  inplace: boolean;
  keepWorktree: boolean;
  baseWanted: string | null;
  timeoutSec: number;
  idleTimeoutSec: number;
  /** Higher goes first in the queue. */
  priority: -1 | 0 | 1;
  /** The ended session whose worktree and conversation it continues. */
  continues: string | null;
  tokenBudget: number | null;
  /** Its race: several sessions of one task, one of which is promoted. */
  race: number | null;
  /** The pool of machines that it may run on; null for this machine. */
  pool: string | null;
  createdAt: string;
}

/** A session's progress, and the settings of its runs. Times are RFC 3339 UTC. */
export interface SessionProgress {
  state: SessionState;
  stopReason: StopReason | null;
  /** When a paused session resumes; it is queued until then. */
  resumeAt: string | null;
  /** Why it paused; kept while it is being started again. */
  pause: { code: string; text: string } | null;
  /** How often its agent was started. */
  runs: number;
  /** When its agent was started last. */
  runStartedAt: string | null;
  /** This and the next two describe its last run, from the first start on; a dispatch may have bound `auth` to account. */
  transport: 'subprocess' | 'acp' | null;
  auth: 'account' | 'gateway' | null;
  /** `guard.profile` at that time. */
  profile: string | null;
  startedAt: string | null;
  endedAt: string | null;
}

/** The results of a session so far. */
export interface SessionResult {
  exitCode: number | null;
  exitSignal: string | null;
  failure: { code: string; text: string } | null;
  /** The worker's report on the task; a claim, see `decideOutcome`. */
  ownWord: OwnWord;
  headCommit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  promotedAt: string | null;
  /**
   * How its branch was settled without a promotion; null while it has work that its base lacks. `continued`: a later
   * session has it. `discarded`: it was removed, and can be restored.
   */
  branchState: 'merged' | 'gone' | 'continued' | 'discarded' | null;
  /** The session that promoted it, or the actor without a session. */
  promotedBy: string | null;
  /** The agent's own id of its session. */
  agentSession: string | null;
  model: string | null;
  /** Over all its runs. */
  usage: SessionUsage | null;
  toolCalls: number | null;
}

/** One session of one worker, as clients see it. */
export interface Session extends SessionOrder, SessionSite, SessionProgress, SessionResult {}

/** Fields of a session that only the engine uses. */
export interface SessionPrivate {
  /** The mark in the environment of the run's processes, and the token of its seat. */
  runId: string | null;
  /** The process of its last run; null before its start and once it has paused. */
  process: { pid: number; pidStart: string } | null;
  /** The start of its last run's output in the log, in bytes. */
  logFrom: number;
  /** See `NewSession`. */
  bypassesGateway: boolean;
  /** When its agent was last started, by the monotonic clock, ms; null for one that an earlier version has started. */
  runStartedMonotonic: number | null;
  /** Pauses in a row, each after a run that did nothing. */
  idlePauses: number;
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
  /** Null for this machine. */
  runner: number | null;
  repository: string | null;
  worktree: string | null;
  cwd: string | null;
  branch: string | null;
  base: string | null;
  base_commit: string | null;
  port: number | null;
  stop_reason: StopReason | null;
  exit_code: number | null;
  exit_signal: string | null;
  failure_code: string | null;
  failure_text: string | null;
  own_word: OwnWord;
  head_commit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  promoted_at: number | null;
  promoted_by: string | null;
  branch_state: 'merged' | 'gone' | 'continued' | 'discarded' | null;
  priority: -1 | 0 | 1;
  resume_at: number | null;
  pause_code: string | null;
  pause_text: string | null;
  runs: number;
  run_started_at: number | null;
  continues: number | null;
  transport: 'subprocess' | 'acp' | null;
  /** `bypass`: account, regardless of the configuration when a run starts. */
  auth: 'account' | 'gateway' | 'bypass' | null;
  profile: string | null;
  containment: 'cgroup' | 'pidns' | 'marks' | null;
  token_budget: number | null;
  race: number | null;
  pool: string | null;
  agent_session: string | null;
  model: string | null;
  tokens_in: number | null;
  tokens_cached: number | null;
  tokens_out: number | null;
  cost_usd: number | null;
  tool_calls: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

const formatTime = (ms: number | null): string | null => (ms === null ? null : rfc3339(ms));

const toSession = (row: SessionRow, counted: SessionUsage | undefined): Session => ({
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
  ...readSite(row),
  repository: row.repository,
  branch: row.branch,
  base: row.base,
  baseCommit: row.base_commit,
  port: row.port,
  stopReason: row.stop_reason,
  exitCode: row.exit_code,
  exitSignal: row.exit_signal,
  failure: row.failure_code === null ? null : { code: row.failure_code, text: row.failure_text ?? '' },
  ownWord: row.own_word,
  headCommit: row.head_commit,
  commits: row.commits,
  files: row.files,
  insertions: row.insertions,
  deletions: row.deletions,
  promotedAt: formatTime(row.promoted_at),
  promotedBy: row.promoted_by,
  branchState: row.branch_state,
  priority: row.priority,
  resumeAt: formatTime(row.resume_at),
  pause: row.pause_code === null ? null : { code: row.pause_code, text: row.pause_text ?? '' },
  runs: row.runs,
  runStartedAt: formatTime(row.run_started_at),
  continues: formatIdOrNull('s', row.continues),
  transport: row.transport,
  auth: row.auth === 'bypass' ? 'account' : row.auth,
  profile: row.profile,
  containment: row.containment,
  tokenBudget: row.token_budget,
  race: row.race,
  pool: row.pool,
  agentSession: row.agent_session,
  model: row.model,
  usage: sumUsages([counted ?? null, readClaim(row)]),
  toolCalls: row.tool_calls,
  createdAt: rfc3339(row.created_at),
  startedAt: formatTime(row.started_at),
  endedAt: formatTime(row.ended_at),
});

/** Reads the paths and the process of a session. */
function readSite({
  runner,
  worktree,
  cwd,
  pid,
}: SessionRow): Pick<Session, 'runner' | 'worktree' | 'cwd' | 'pid'> {
  if (runner === null) return { runner, worktree, cwd, pid };
  const read = (path: string | null): SitePath | null => (path === null ? null : { path });
  return { runner: formatRunnerId(runner), worktree: read(worktree), cwd: read(cwd), pid: null };
}

/** Returns the usage that its agent has reported about runs that the gateway did not count. */
const readClaim = (row: SessionRow): SessionUsage | null =>
  row.tokens_in === null
    ? null
    : estimateByClaim({
        input: row.tokens_in,
        cached: row.tokens_cached ?? 0,
        output: row.tokens_out ?? 0,
        costUsd: row.cost_usd,
      });

/** Turns rows into sessions. */
export type ReadRows = (rows: readonly SessionRow[]) => Session[];

/** Creates the function that turns rows into sessions, with their usage. */
export function createRowReader(books: SessionBooks): ReadRows {
  return (rows) => {
    const routed = rows.filter(({ auth }) => auth === 'gateway').map(({ id }) => id);
    const counted = routed.length === 0 ? null : books.sumSessions(routed);
    return rows.map((row) => toSession(row, counted?.get(row.id)));
  };
}

/** Selects rows of sessions `s`, with their workers. */
export const SELECT_SESSIONS =
  'SELECT s.*, w.name AS worker_name FROM session s JOIN worker w ON w.id = s.worker_id';

import { rfc3339 } from '../../core/base/clock.ts';
import { formatIdOrNull } from '../../core/base/ids.ts';

/** A worker's report about one acceptance criterion. */
export interface CriterionResult {
  criterion: string;
  status: 'met' | 'not_met' | 'unreported';
  note: string | null;
}

export interface TestResult {
  command: string;
  result: 'passed' | 'failed' | 'skipped';
  note: string | null;
}

export interface SymbolResult {
  /** Relative to the worktree. */
  path: string;
  symbol: string | null;
  /** True if the path exists in the worktree. */
  exists: boolean;
}

/** The result of rerunning a reported command. */
export interface RerunResult {
  command: string;
  exitCode: number | null;
  /** True if it ended as reported. */
  agrees: boolean;
  /** The last lines of its output. */
  output: string;
  /** True for a check of the repository's own, which has to pass. */
  isCheck?: boolean;
}

/**
 * State of evidence. `none`: nothing was reported. `reported`: only the worker's own report. `verified`: svc reran
 * the reported tests at the branch's current head, they ended as reported, and nothing is missing. `disagrees`: rerun
 * there, they ended differently. `stale`: the report or the rerun is of another commit.
 */
export const VERIFICATION_STATES = ['none', 'reported', 'verified', 'disagrees', 'stale'] as const;
export type VerificationState = (typeof VERIFICATION_STATES)[number];

/** The rerun of the tests by svc that is due or running; null for neither. */
export type RerunState = 'waiting' | 'running' | null;

/** The evidence of a session and its current state. */
export interface Verification {
  sessionId: string;
  taskId: string | null;
  state: VerificationState;
  /** The reasons why it is not `verified`, a clause each. */
  reasons: string[];
  summary: string | null;
  criteria: CriterionResult[];
  tests: TestResult[];
  symbols: SymbolResult[];
  /** The end of the branch at the time of the report. */
  headCommit: string | null;
  reportedAt: string | null;
  reportedBy: string | null;
  /** The last rerun by svc. `on` is the other machine that made it, null for this one; `head` is null for one by an older version. */
  rerun: {
    at: string;
    by: string;
    on: string | null;
    head: string | null;
    agrees: boolean;
    results: RerunResult[];
  } | null;
  rerunState: RerunState;
  /** The reason why svc could not rerun them by itself; null if there was no problem. */
  rerunProblem: string | null;
  /** The repository's own checks that a rerun also runs. */
  checks: readonly string[];
  /** Hash of the commands and the commit of a rerun now; null if there is nothing to run. */
  rerunHash: string | null;
}

/** The author of the empty report of a session that reported nothing, for a rerun of the repository's own checks. */
export const NOBODY = 'svc';

/** A stored report; the newest of a session counts. */
export interface Evidence {
  id: number;
  sessionId: string;
  taskId: string | null;
  summary: string | null;
  /** Only the reported ones. */
  criteria: CriterionResult[];
  tests: TestResult[];
  symbols: SymbolResult[];
  headCommit: string | null;
  reportedAt: string;
  reportedBy: string;
  rerun: Verification['rerun'];
  rerunState: RerunState;
  rerunProblem: string | null;
}

export interface VerificationRow {
  id: number;
  session_id: string;
  task_id: number | null;
  head_commit: string | null;
  summary: string | null;
  criteria: string;
  tests: string;
  symbols: string;
  reported_at: number;
  reported_by: string;
  rerun: string | null;
  rerun_at: number | null;
  rerun_by: string | null;
  rerun_mark: string | null;
  rerun_head: string | null;
  rerun_on: string | null;
  rerun_due: number | null;
  rerun_problem: string | null;
}

function readRerun(row: VerificationRow): Verification['rerun'] {
  if (row.rerun === null || row.rerun_at === null) return null;
  const results = JSON.parse(row.rerun) as RerunResult[];
  const agrees = results.every((each) => each.agrees);
  return {
    at: rfc3339(row.rerun_at),
    by: row.rerun_by ?? '',
    on: row.rerun_on,
    head: row.rerun_head,
    agrees,
    results,
  };
}

export const toEvidence = (row: VerificationRow): Evidence => ({
  id: row.id,
  sessionId: row.session_id,
  taskId: formatIdOrNull('t', row.task_id),
  summary: row.summary,
  criteria: JSON.parse(row.criteria) as CriterionResult[],
  tests: JSON.parse(row.tests) as TestResult[],
  symbols: JSON.parse(row.symbols) as SymbolResult[],
  headCommit: row.head_commit,
  reportedAt: rfc3339(row.reported_at),
  reportedBy: row.reported_by,
  rerun: readRerun(row),
  rerunState: row.rerun_mark !== null ? 'running' : row.rerun_due !== null ? 'waiting' : null,
  rerunProblem: row.rerun_problem,
});

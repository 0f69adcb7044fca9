import { rfc3339 } from '../../clock.ts';
import { formatIdOrNull } from '../../ids.ts';

/** What a worker says of one acceptance criterion; one that it says nothing of is unreported. */
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
  /** Whether the path exists in the worktree. */
  exists: boolean;
}

/** One reported command, run again by svc. */
export interface RerunResult {
  command: string;
  exitCode: number | null;
  /** Whether it ended as it was reported. */
  agrees: boolean;
  /** The last lines of its output. */
  output: string;
}

/**
 * `none`: nothing reported. `incomplete`: something is not met, failed or unreported. `stale`: complete, but the branch
 * has moved since. `disagrees`: a rerun ended otherwise than reported. `verified`: complete and newer than the last commit.
 */
export type VerificationState = 'none' | 'incomplete' | 'stale' | 'disagrees' | 'verified';

/** The evidence of a session, and what it is worth now. */
export interface Verification {
  sessionId: string;
  taskId: string | null;
  state: VerificationState;
  /** Why it is not `verified`, one sentence each. */
  reasons: string[];
  summary: string | null;
  criteria: CriterionResult[];
  tests: TestResult[];
  symbols: SymbolResult[];
  /** Where the branch ended when it was reported. */
  headCommit: string | null;
  reportedAt: string | null;
  reportedBy: string | null;
  rerun: { at: string; by: string; agrees: boolean; results: RerunResult[] } | null;
}

/** What was reported, as it is kept; the newest of a session counts. */
export interface Evidence {
  id: number;
  sessionId: string;
  taskId: string | null;
  summary: string | null;
  /** Only what was said something of. */
  criteria: CriterionResult[];
  tests: TestResult[];
  symbols: SymbolResult[];
  headCommit: string | null;
  reportedAt: string;
  reportedBy: string;
  rerun: Verification['rerun'];
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
}

function rerunOf(row: VerificationRow): Verification['rerun'] {
  if (row.rerun === null || row.rerun_at === null) return null;
  const results = JSON.parse(row.rerun) as RerunResult[];
  const agrees = results.every((each) => each.agrees);
  return { at: rfc3339(row.rerun_at), by: row.rerun_by ?? '', agrees, results };
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
  rerun: rerunOf(row),
});

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

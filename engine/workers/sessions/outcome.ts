import type { SitePath } from './site.ts';

/**
 * The outcome of a run, decided from the worker's report on its task, how the run ended, and its commits. Everything
 * that reports an end uses it: task status, events, handoff, tools, commands and the dashboard.
 */

/** The worker's own report on its task; null without one. It is a claim (R12): the end of the run decides. */
export type OwnWord = 'done' | 'failed' | null;

export interface RunFailure {
  code: string;
  text: string;
}

/** The known facts about a run's commits. `nothing_begun`: it ended before it had a place to work. */
export type WorkLeft = 'some' | 'none' | 'unreadable' | 'in_place' | 'nothing_begun';

/** Next steps, in this order; each client has its own wording. */
export type NextStep =
  | 'read_log'
  | 'look_at_branch'
  | 'look_at_folder'
  | 'find_work'
  | 'promote'
  | 'retry'
  | 'decide';

export interface RunOutcome {
  /** The task's status. */
  status: 'done' | 'failed';
  /** Null for `done`. */
  failure: RunFailure | null;
  /** The worker's report, as a clause, if the end contradicts it. */
  contradiction: string | null;
  next: readonly NextStep[];
}

/** Code of a run that succeeded although its worker reported a failure. */
const SAID_FAILED: RunFailure = { code: 'reported', text: 'its worker marked the task failed' };

/** Outcomes by report, for a successful run (exit code 0, no failure in its output) and for any other end. */
const TABLE: Readonly<
  Record<'silent' | 'done' | 'failed', { well: RunFailure | null; badly: RunOutcome['contradiction'] }>
> = {
  silent: { well: null, badly: null },
  done: { well: null, badly: 'its worker had marked the task done' },
  failed: { well: SAID_FAILED, badly: 'its worker had marked the task failed' },
};

const NEXT: Readonly<Record<RunOutcome['status'], Record<WorkLeft, readonly NextStep[]>>> = {
  done: {
    some: ['look_at_branch', 'promote'],
    none: [],
    unreadable: ['find_work'],
    in_place: ['look_at_folder'],
    nothing_begun: [],
  },
  failed: {
    some: ['read_log', 'look_at_branch', 'retry'],
    none: ['read_log', 'retry'],
    unreadable: ['read_log', 'find_work', 'retry'],
    in_place: ['read_log', 'look_at_folder', 'retry'],
    nothing_begun: ['retry'],
  },
};

/**
 * @param failure how the run ended; null for success. One that was decided by this table before may be passed again.
 * @param mayRetry whether the task still belongs to this run, and can be retried
 */
export function decideOutcome(
  word: OwnWord,
  failure: RunFailure | null,
  left: WorkLeft,
  { mayRetry }: { mayRetry: boolean },
): RunOutcome {
  const row = TABLE[word ?? 'silent'];
  const decided = failure ?? row.well;
  const status = decided === null ? 'done' : 'failed';
  // Not a failure: its new inputs need a new approval.
  const isDropped = decided?.code === 'inputs_changed';
  return {
    status,
    failure: decided,
    contradiction: decided === null || decided.code === SAID_FAILED.code ? null : row.badly,
    next: isDropped ? ['decide'] : NEXT[status][left].filter((step) => step !== 'retry' || mayRetry),
  };
}

/** @param run `commits` is null without a repository, or if they could not be read */
export function workLeftBy(run: {
  branch: string | null;
  cwd: SitePath | null;
  repository: string | null;
  commits: number | null;
}): WorkLeft {
  if (run.commits === null) {
    if (run.cwd === null) return 'nothing_begun';
    return run.repository === null ? 'in_place' : 'unreadable';
  }
  if (run.branch === null) return 'in_place';
  return run.commits === 0 ? 'none' : 'some';
}

/** Reads the recorded outcome of an ended session. */
export const outcomeOfSession = (
  session: { ownWord: OwnWord; failure: RunFailure | null } & Parameters<typeof workLeftBy>[0],
  task: { mayRetry: boolean },
): RunOutcome => decideOutcome(session.ownWord, session.failure, workLeftBy(session), task);

/**
 * What came of a run, by what its worker said of its task, how the run ended, and what it left. Whoever tells of an end
 * reads it here: the status of the task, the events, the handoff, tools, commands and the dashboard.
 */

/** What the worker itself said of its task; null when it said nothing. A claim (R12): the end of its run decides. */
export type OwnWord = 'done' | 'failed' | null;

export interface RunFailure {
  code: string;
  text: string;
}

/** What is known of the commits of a run. `nothing_begun`: it was over before it had a place to work in. */
export type WorkLeft = 'some' | 'none' | 'unreadable' | 'in_place' | 'nothing_begun';

/** What is to be done next, in this order; every reader has its own words for each. */
export type NextStep =
  | 'read_log'
  | 'look_at_branch'
  | 'look_at_folder'
  | 'find_work'
  | 'promote'
  | 'retry'
  | 'decide';

export interface RunOutcome {
  /** Of the task. */
  status: 'done' | 'failed';
  /** Null for `done`. */
  failure: RunFailure | null;
  /** What the worker had said, where the end says otherwise; a clause. */
  contradiction: string | null;
  next: readonly NextStep[];
}

/** Of a run that ended well although its worker had said that it failed. */
const SAID_FAILED: RunFailure = { code: 'reported', text: 'its worker marked the task failed' };

/** By word, of a run that ended well (exit code 0, and no failure in what it printed), and of one with any other end. */
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
 * @param failure how the run ended; null for well. One that was decided by this table before may be given again.
 * @param mayRetry whether the task is this run's still, and can be tried again
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
  // It has not failed: what it would have run waits for somebody who approves it anew.
  const isDropped = decided?.code === 'inputs_changed';
  return {
    status,
    failure: decided,
    contradiction: decided === null || decided.code === SAID_FAILED.code ? null : row.badly,
    next: isDropped ? ['decide'] : NEXT[status][left].filter((step) => step !== 'retry' || mayRetry),
  };
}

/** @param run `commits` is null where there is no repository to count in, and where they could not be read */
export function workLeftBy(run: {
  branch: string | null;
  cwd: string | null;
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

/** The outcome of a session that has ended, as it is on record. */
export const outcomeOfSession = (
  session: { ownWord: OwnWord; failure: RunFailure | null } & Parameters<typeof workLeftBy>[0],
  task: { mayRetry: boolean },
): RunOutcome => decideOutcome(session.ownWord, session.failure, workLeftBy(session), task);

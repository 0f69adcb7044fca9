/** Durations, with their number; null for none. */
export interface DurationFigures {
  count: number;
  medianSec: number | null;
  /** The 90th percentile. */
  p90Sec: number | null;
}

/** Outcomes of tasks. `unfinished` have not ended. */
export const OUTCOMES = ['done', 'failed', 'denied', 'cancelled', 'unfinished'] as const;
export type RunOutcome = (typeof OUTCOMES)[number];

/** The figures of some tasks and their sessions. */
export interface StatsFigures {
  /** Agent, project or UTC day; null for all of them, and for tasks without one. */
  key: string | null;
  tasks: number;
  outcomes: Record<RunOutcome, number>;
  /** Tasks with promoted work. */
  promoted: number;
  /** Tasks that took more than one attempt: retried, continued, or in conflict with their base. */
  reworked: number;
  /** How often failed tasks were rerun. */
  retries: number;
  /** Sessions that continued a successful one. */
  followUps: number;
  /** Sessions that continued a failed one. */
  resumed: number;
  /** Sessions whose promotion met a conflict. */
  conflicts: number;
  /** Sessions whose agent was started. */
  runs: number;
  /** As reported by the agents; `cached` is a part of `input`. */
  tokens: { input: number; cached: number; output: number };
  /** Runs whose agent has not reported any. */
  untoldTokens: number;
  /** US dollars; null if no agent has reported any. */
  costUsd: number | null;
  /** Runs whose agent has not reported its cost. */
  untoldCost: number;
  /** From the request to the approval, for tasks that waited for one. */
  toApproval: DurationFigures;
  /** From the first approval to the end. */
  toEnd: DurationFigures;
  /** From the end of a session to its promotion. */
  toPromotion: DurationFigures;
}

/** A task for the figures; times are Unix ms. */
export interface CountedTask {
  status: string;
  failure_code: string | null;
  attempt: number;
  ended_at: number | null;
}

/** A session for the figures, with its decision; times are Unix ms. */
export interface CountedSession {
  runs: number;
  continues: number | null;
  /** The outcome of the session that it continues. */
  former_failure: string | null;
  started_at: number | null;
  ended_at: number | null;
  promoted_at: number | null;
  tokens_in: number | null;
  tokens_cached: number | null;
  tokens_out: number | null;
  cost_usd: number | null;
}

/** The sums of a group, which can be added to those of others. */
interface FigureSums {
  counts: Pick<
    StatsFigures,
    'tasks' | 'promoted' | 'reworked' | 'retries' | 'followUps' | 'resumed' | 'conflicts' | 'runs'
  > &
    Pick<StatsFigures, 'untoldTokens' | 'untoldCost'>;
  outcomes: StatsFigures['outcomes'];
  tokens: StatsFigures['tokens'];
  costUsd: number | null;
  /** Durations, ms. */
  times: Record<'toApproval' | 'toEnd' | 'toPromotion', number[]>;
}

/** Sums of a group while its rows are read. */
export interface FigureCounter {
  readonly sums: Readonly<FigureSums>;
  /** Adds the sums of another counter. */
  addSums(other: FigureCounter): void;
  addTask(task: CountedTask, marks: { isPromoted: boolean; isReworked: boolean }): void;
  addSession(session: CountedSession, hasConflict: boolean): void;
  /** Adds a duration, ms. A clock that was set back makes it 0. */
  addTime(name: 'toApproval' | 'toEnd' | 'toPromotion', ms: number): void;
  figures(): StatsFigures;
}

export const outcomeOf = ({
  status,
  failure_code: code,
}: Pick<CountedTask, 'status' | 'failure_code'>): RunOutcome => {
  if (status === 'done') return 'done';
  if (status !== 'failed') return 'unfinished';
  return code === 'denied' || code === 'cancelled' ? code : 'failed';
};

/** Computes a percentile by nearest rank: one of the values, never an interpolation. */
export function findPercentile(sorted: Float64Array, share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

const toSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1000));

function measureSpan(times: readonly number[]): DurationFigures {
  const sorted = Float64Array.from(times).sort();
  return {
    count: sorted.length,
    medianSec: toSeconds(findPercentile(sorted, 0.5)),
    p90Sec: toSeconds(findPercentile(sorted, 0.9)),
  };
}

const createSums = (): FigureSums => ({
  counts: {
    tasks: 0,
    promoted: 0,
    reworked: 0,
    retries: 0,
    followUps: 0,
    resumed: 0,
    conflicts: 0,
    runs: 0,
    untoldTokens: 0,
    untoldCost: 0,
  },
  outcomes: { done: 0, failed: 0, denied: 0, cancelled: 0, unfinished: 0 },
  tokens: { input: 0, cached: 0, output: 0 },
  costUsd: null,
  times: { toApproval: [], toEnd: [], toPromotion: [] },
});

function addMembers<Name extends string>(
  sums: Record<Name, number>,
  others: Readonly<Record<Name, number>>,
): void {
  for (const name of Object.keys(sums) as Name[]) sums[name] += others[name];
}

export function createFigureCounter(key: string | null): FigureCounter {
  const sums = createSums();
  const { counts, outcomes, tokens, times } = sums;
  return {
    sums,
    addSums({ sums: other }) {
      addMembers(counts, other.counts);
      addMembers(outcomes, other.outcomes);
      addMembers(tokens, other.tokens);
      if (other.costUsd !== null) sums.costUsd = (sums.costUsd ?? 0) + other.costUsd;
      for (const name of ['toApproval', 'toEnd', 'toPromotion'] as const)
        for (const ms of other.times[name]) times[name].push(ms);
    },
    addTask(task, { isPromoted, isReworked }) {
      counts.tasks += 1;
      counts.retries += task.attempt - 1;
      outcomes[outcomeOf(task)] += 1;
      if (isPromoted) counts.promoted += 1;
      if (isReworked) counts.reworked += 1;
    },
    addSession(session, hasConflict) {
      if (hasConflict) counts.conflicts += 1;
      if (session.continues !== null) {
        if (session.former_failure === null) counts.followUps += 1;
        else counts.resumed += 1;
      }
      if (session.runs === 0) return;
      counts.runs += 1;
      if (session.tokens_in === null) counts.untoldTokens += 1;
      tokens.input += session.tokens_in ?? 0;
      tokens.cached += session.tokens_cached ?? 0;
      tokens.output += session.tokens_out ?? 0;
      if (session.cost_usd === null) counts.untoldCost += 1;
      else sums.costUsd = (sums.costUsd ?? 0) + session.cost_usd;
    },
    addTime: (name, ms) => void times[name].push(Math.max(0, ms)),
    figures: () => ({
      key,
      ...counts,
      outcomes,
      tokens,
      costUsd: sums.costUsd,
      toApproval: measureSpan(times.toApproval),
      toEnd: measureSpan(times.toEnd),
      toPromotion: measureSpan(times.toPromotion),
    }),
  };
}

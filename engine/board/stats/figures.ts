import type { RunOutcome } from './outcomes.ts';
import { findPercentile } from './percentile.ts';
import { type GroupSums, joinTimes } from './sums.ts';

/** Durations, with their number; null for none. */
export interface DurationFigures {
  count: number;
  medianSec: number | null;
  /** The 90th percentile. */
  p90Sec: number | null;
}

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

const toSeconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1000));

function measureSpan(times: Float64Array): DurationFigures {
  return {
    count: times.length,
    medianSec: toSeconds(findPercentile(times, 0.5)),
    p90Sec: toSeconds(findPercentile(times, 0.9)),
  };
}

/** Computes the figures of a group. */
export function computeFigures(key: string | null, { counts, times }: GroupSums): StatsFigures {
  const { done, failed, denied, cancelled, unfinished, input, cached, output, costUsd, ...others } = counts;
  return {
    key,
    ...others,
    outcomes: { done, failed, denied, cancelled, unfinished },
    tokens: { input, cached, output },
    costUsd: counts.untoldCost < counts.runs ? costUsd : null,
    toApproval: measureSpan(joinTimes(times.toApproval)),
    toEnd: measureSpan(joinTimes(times.toEnd)),
    toPromotion: measureSpan(joinTimes(times.toPromotion)),
  };
}

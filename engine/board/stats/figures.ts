import type { CountedCalls, SessionUsage } from '../../workers/sessions/index.ts';
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
  /** As the gateway counted them, otherwise as the agents claim; `cached` is a part of `input`. */
  tokens: { input: number; cached: number; output: number };
  /** The part of them that is estimated or claimed. */
  estimatedTokens: number;
  /** Runs without any, neither counted nor claimed. */
  untoldTokens: number;
  /** US dollars; null if none are known. */
  costUsd: number | null;
  /** Runs whose cost was neither counted nor claimed. */
  untoldCost: number;
  /** Counted tokens at an unknown price. */
  unpriced: number;
  /** True if a number of tokens or a price is an estimate. */
  estimated: boolean;
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
export function computeFigures(
  key: string | null,
  { counts, times, calls }: GroupSums,
  describeCalls: (calls: readonly CountedCalls[]) => SessionUsage | null,
): StatsFigures {
  const { done, failed, denied, cancelled, unfinished, input, cached, output, costUsd, ...rest } = counts;
  const { claimed, counted: countedRuns, ...others } = rest;
  const counted = describeCalls(calls);
  const claimsCost = counts.untoldCost + countedRuns < counts.runs;
  return {
    key,
    ...others,
    outcomes: { done, failed, denied, cancelled, unfinished },
    tokens: {
      input: input + (counted?.input ?? 0),
      cached: cached + (counted?.cached ?? 0),
      output: output + (counted?.output ?? 0),
    },
    estimatedTokens: input + output + (counted?.estimatedTokens ?? 0),
    costUsd: counted?.costUsd == null && !claimsCost ? null : costUsd + (counted?.costUsd ?? 0),
    unpriced: counted?.unpriced ?? 0,
    estimated: claimed > 0 || counted?.estimated === true,
    toApproval: measureSpan(joinTimes(times.toApproval)),
    toEnd: measureSpan(joinTimes(times.toEnd)),
    toPromotion: measureSpan(joinTimes(times.toPromotion)),
  };
}

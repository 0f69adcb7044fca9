import { formatCost, formatCount, formatTokenCount, markEstimate } from '../../engine/core/base/text.ts';
import type { DashboardData } from '../state/rows.ts';
import { describeDay } from './usage.ts';

const getUtcDay = (now: number): string => new Date(now).toISOString().slice(0, 10);

// The data is immutable: rows stay the same from one paint to the next.
const runCounts = new WeakMap<DashboardData['sessions'], { day: string; runs: number }>();

/** Counts the runs that started on this UTC day, the day of budgets. */
export function countRunsToday({ sessions }: Pick<DashboardData, 'sessions'>, now: number): number {
  const day = getUtcDay(now);
  const known = runCounts.get(sessions);
  if (known?.day === day) return known.runs;
  let runs = 0;
  for (const row of sessions.values())
    if ((row.run_started_at ?? row.started_at ?? '').startsWith(day)) runs += 1;
  runCounts.set(sessions, { day, runs });
  return runs;
}

/**
 * Formats the runs and the usage of the day, each empty if there is nothing to report. With a budget, the tokens are
 * those that count against it.
 */
export function describeToday({ sessions, usage }: Pick<DashboardData, 'sessions' | 'usage'>, now: number) {
  const runs = countRunsToday({ sessions }, now);
  const spent = usage?.spent ?? null;
  const all = spent === null ? 0 : spent.input + spent.output;
  const budgeted = usage !== null && usage.budget_tokens_day > 0 ? describeDay(usage) : null;
  const isEstimate = spent !== null && spent.estimated_tokens > 0;
  const counted = budgeted ?? (all === 0 ? null : markEstimate(formatTokenCount(all), isEstimate));
  return {
    runs: runs === 0 ? '' : `${formatCount(runs, 'run')} today`,
    tokens: counted === null ? '' : `${counted} tokens`,
    money: all === 0 || spent?.cost_usd == null ? '' : formatCost(spent.cost_usd, spent),
  };
}

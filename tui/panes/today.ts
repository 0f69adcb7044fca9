import { formatCount, formatDollars, formatTokenCount } from '../../engine/core/base/text.ts';
import type { DashboardData, ListedUsageDay, ShownSession } from '../state/rows.ts';
import { describeDay } from './usage.ts';

/** Usage of the runs and model calls of a UTC day, the day of budgets. */
interface Totals {
  day: string;
  runs: number;
  tokens: number;
  costUsd: number | null;
}

const getUtcDay = (now: number): string => new Date(now).toISOString().slice(0, 10);

const addCosts = (one: number | null, other: number | null): number | null =>
  one === null && other === null ? null : (one ?? 0) + (other ?? 0);

/** Adds the usage of one run: as its agent reports it, or as the gateway counted it if that is more. */
function addRun(
  totals: Totals,
  { usage, session_id: id }: ShownSession,
  routed: ListedUsageDay | null,
): Totals {
  const own = usage === null ? 0 : usage.input + usage.output;
  const counted = routed?.groups.session.find(({ key }) => key === id);
  const isCounted = counted !== undefined && counted.tokens >= own;
  return {
    ...totals,
    runs: totals.runs + 1,
    tokens: totals.tokens + (isCounted ? counted.tokens : own),
    costUsd: addCosts(totals.costUsd, (isCounted ? counted.cost_usd : null) ?? usage?.cost_usd ?? null),
  };
}

// The data is immutable: rows and usage stay the same from one paint to the next.
const totalsCache = new WeakMap<
  DashboardData['sessions'],
  { usage: ListedUsageDay | null; totals: Totals }
>();

/** Sums the known usage of the day: its runs, and the calls of people's own agents. */
export function sumToday(
  { sessions, usage }: Pick<DashboardData, 'sessions' | 'usage'>,
  now: number,
): Totals {
  const day = getUtcDay(now);
  const known = totalsCache.get(sessions);
  if (known?.usage === usage && known.totals.day === day) return known.totals;
  const persons = usage?.groups.session.find(({ key }) => key === null);
  let totals: Totals = { day, runs: 0, tokens: persons?.tokens ?? 0, costUsd: persons?.cost_usd ?? null };
  for (const row of sessions.values())
    if ((row.run_started_at ?? row.started_at ?? '').startsWith(day)) totals = addRun(totals, row, usage);
  totalsCache.set(sessions, { usage, totals });
  return totals;
}

/** Formats the totals, each empty if there is nothing to report. With a budget, the tokens are those that count against it. */
export function describeToday(
  { runs, tokens, costUsd }: Totals,
  usage: ListedUsageDay | null,
): { runs: string; tokens: string; money: string } {
  const budgeted = usage !== null && usage.budget_tokens_day > 0 ? describeDay(usage) : null;
  const counted = budgeted ?? (tokens === 0 ? null : formatTokenCount(tokens));
  return {
    runs: runs === 0 ? '' : `${formatCount(runs, 'run')} today`,
    tokens: counted === null ? '' : `${counted} tokens`,
    money: costUsd === null ? '' : formatDollars(costUsd),
  };
}

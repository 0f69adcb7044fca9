import type { WireValue } from '../../core/api/operation.ts';
import {
  formatCost,
  formatCount,
  formatElapsed,
  formatTokenCount,
  markEstimate,
} from '../../core/base/text.ts';
import type { DurationFigures, StatsFigures } from './figures.ts';
import type { StatsReport } from './stats.ts';

/** A line of a screen: its subject and text; null for no text. */
export type StatsFact = readonly [name: string, value: string | null];

/** Formats a share in whole percent; never 0 % of something, nor 100 % of less than all. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '-';
  const percent = Math.round((part / whole) * 100);
  if (percent === 0 && part > 0) return '<1%';
  return percent === 100 && part < whole ? '>99%' : `${percent}%`;
}

/** Returns the share of done tasks among those that a worker has ended; denied and cancelled ones are unrelated to workers. */
export const describeSuccess = ({
  outcomes: { done, failed },
}: Pick<WireValue<StatsFigures>, 'outcomes'>): string => formatShare(done, done + failed);

export const describeRework = ({
  reworked,
  tasks,
}: Pick<WireValue<StatsFigures>, 'reworked' | 'tasks'>): string => formatShare(reworked, tasks);

const formatSpan = ({
  count,
  median_sec: median,
  p90_sec: p90,
}: WireValue<DurationFigures>): string | null =>
  count === 0 ? null : `median ${formatElapsed(median)}, 90% within ${formatElapsed(p90)} (of ${count})`;

const joinCounts = (counts: readonly (readonly [count: number, text: string])[]): string =>
  counts
    .filter(([count]) => count > 0)
    .map(([, text]) => text)
    .join(', ');

function describeTokens({
  runs,
  tokens,
  untold_tokens: untold,
  estimated_tokens: estimated,
}: WireValue<StatsFigures>): string | null {
  if (runs === 0) return null;
  const known = `${markEstimate(formatTokenCount(tokens.input), estimated > 0)} in (${formatTokenCount(tokens.cached)} cached), ${formatTokenCount(tokens.output)} out`;
  if (untold === runs) return `not reported by ${runs === 1 ? 'its agent' : 'their agents'}`;
  return untold === 0 ? known : `${known}; ${untold} of ${formatCount(runs, 'run')} reported none`;
}

function describeCost(figures: WireValue<StatsFigures>): string | null {
  const { runs, cost_usd: cost, untold_cost: untold, unpriced } = figures;
  if (runs === 0 || cost === null) return null;
  return [
    formatCost(cost, { ...figures, unpriced: 0 }),
    ...(untold === 0 ? [] : [`${untold} of ${formatCount(runs, 'run')} reported none`]),
    ...(unpriced === 0 ? [] : [`${formatTokenCount(unpriced)} tokens have no known price`]),
  ].join('; ');
}

/** Formats the tokens of a group in a table; `+` follows a number that some runs are missing from. */
export const formatGroupTokens = (figures: WireValue<StatsFigures>): string => {
  const { runs, tokens, untold_tokens: untold, estimated_tokens: estimated } = figures;
  if (runs === untold) return '-';
  const sum = markEstimate(formatTokenCount(tokens.input + tokens.output), estimated > 0);
  return `${sum}${untold > 0 ? '+' : ''}`;
};

/** Formats the cost of a group in a table; `+` follows one that some runs or tokens are missing from. */
export const formatGroupCost = (figures: WireValue<StatsFigures>): string =>
  formatCost(figures.cost_usd, { ...figures, unpriced: figures.untold_cost + figures.unpriced });

/** Formats the figures of a group as lines. */
export function describeFigures(figures: WireValue<StatsFigures>): StatsFact[] {
  const { tasks, outcomes, promoted, runs } = figures;
  const outcomeCounts = Object.entries(outcomes).map(([name, count]) => [count, `${count} ${name}`] as const);
  const rework = joinCounts([
    [figures.retries, formatCount(figures.retries, 'retry', 'retries')],
    [figures.follow_ups, formatCount(figures.follow_ups, 'follow-up')],
    [figures.resumed, `${figures.resumed} resumed`],
    [figures.conflicts, formatCount(figures.conflicts, 'conflict')],
  ]);
  const ended = outcomes.done + outcomes.failed;
  return [
    ['tasks', tasks === 0 ? '0' : `${tasks}: ${joinCounts(outcomeCounts)}`],
    ['success', ended === 0 ? null : `${describeSuccess(figures)}: ${outcomes.done} of ${ended} done`],
    ['promoted', tasks === 0 ? null : formatCount(promoted, 'task')],
    [
      'rework',
      tasks === 0 ? null : `${describeRework(figures)} of the tasks${rework === '' ? '' : `: ${rework}`}`,
    ],
    ['to approval', formatSpan(figures.to_approval)],
    ['then to end', formatSpan(figures.to_end)],
    ['to promotion', formatSpan(figures.to_promotion)],
    ['runs', runs === 0 ? null : String(runs)],
    ['tokens', describeTokens(figures)],
    ['cost', describeCost(figures)],
  ];
}

/** Describes missing data, and since when the figures are complete. */
export function describeReach(
  report: Pick<WireValue<StatsReport>, 'since' | 'removed' | 'archived' | 'events_since'>,
): string {
  const { since, removed, archived, events_since: eventsSince } = report;
  if (since === null) return 'no tasks';
  const isLogShorter = eventsSince !== null && eventsSince > since;
  return [
    since.slice(0, 10),
    ...(removed === 0
      ? []
      : [`${formatCount(removed, 'older task was', 'older tasks were')} removed and not counted`]),
    ...(archived === 0 ? [] : [`${archived} archived also counted`]),
    ...(isLogShorter ? [`conflicts since ${eventsSince.slice(0, 10)}`] : []),
  ].join(', ');
}

/** Describes running and waiting sessions, and when they are likely to be done. */
export function describeQueue({ queue, at }: Pick<WireValue<StatsReport>, 'queue' | 'at'>): string {
  const { running, waiting, paused, cap, ends_at: endsAt } = queue;
  if (running + waiting + paused === 0) return 'nothing runs or waits';
  const counts = joinCounts([
    [1, `${running} of ${cap} running`],
    [waiting, `${waiting} queued`],
    [paused, `${paused} paused`],
  ]);
  if (running + waiting === 0) return counts;
  if (endsAt === null) return `${counts}; no earlier run shows how long that takes`;
  const left = Math.max(0, Math.round((Date.parse(endsAt) - Date.parse(at)) / 1000));
  return `${counts}; by the median run ${left === 0 ? 'they should have ended by now' : `all end in ${formatElapsed(left)}`}`;
}

/** Sums neighbouring values until there are at most `most` of them: a chart shows all days at any width. */
export function foldValues(values: readonly number[], most: number): number[] {
  const perPart = Math.max(1, Math.ceil(values.length / Math.max(1, most)));
  const folded: number[] = [];
  // From the end, so that the newest part is complete.
  for (let end = values.length; end > 0; end -= perPart)
    folded.unshift(values.slice(Math.max(0, end - perPart), end).reduce((sum, each) => sum + each, 0));
  return folded;
}

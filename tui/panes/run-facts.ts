import {
  formatClockTime,
  formatCost,
  formatCount,
  formatTokenCount,
  localizeTimes,
  markEstimate,
} from '../../engine/core/base/text.ts';
import { isPausedRun } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { DashboardData, ShownSession } from '../state/rows.ts';
import { isLiveSession } from '../state/work-items.ts';
import { cleanText, renderFacts, truncateText, wrapText } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { formatFirstLine } from './bus.ts';
import { describeRunMode } from './plan.ts';
import { describeRetryTime, formatWait } from './time.ts';

/** All tokens of a session, input and output. */
export const formatSessionTokens = ({ usage }: Pick<ShownSession, 'usage'>): string =>
  usage === null
    ? '-'
    : markEstimate(formatTokenCount(usage.input + usage.output), usage.estimated_tokens > 0);

/** The cost of a session. */
export const formatSessionCost = ({ usage }: Pick<ShownSession, 'usage'>): string =>
  usage === null ? '-' : formatCost(usage.cost_usd, usage);

function describeSpending({
  usage,
  tool_calls: calls,
  token_budget: budget,
  saved_tokens: saved,
}: ShownSession): string {
  return [
    usage === null
      ? null
      : `${markEstimate(formatTokenCount(usage.input), usage.estimated_tokens > 0)} in (${formatTokenCount(usage.cached)} cached), ${formatTokenCount(usage.output)} out`,
    saved === 0 ? null : `${formatTokenCount(saved)} spared`,
    budget === null ? null : `at most ${formatTokenCount(budget)}`,
    usage?.cost_usd == null ? null : formatSessionCost({ usage }),
    calls === null || calls === 0 ? null : formatCount(calls, 'tool call'),
  ]
    .filter((each) => each !== null)
    .join(' · ');
}

const findHeldRow = ({ held }: DashboardData, { agent, state }: ShownSession) =>
  state === 'queued' ? held.find((each) => each.agent === agent) : undefined;

/** How many of the latest messages to a run are listed. */
const LISTED_MESSAGES = 3;

/** Lists the latest messages to a run, and if it has read them. */
function listMessages({ messages }: DashboardData, row: ShownSession, now: number) {
  if (!isLiveSession(row)) return [];
  const sent = [...messages.values()].filter((each) => each.to_session === row.session_id);
  return sent
    .sort((one, other) => other.id - one.id)
    .slice(0, LISTED_MESSAGES)
    .map(({ id, body, acked_at: read, created_at: at }): readonly [string, string, TextStyle?] => {
      const text = formatFirstLine(body);
      return read === null
        ? ['message', `${id} queued ${formatClockTime(at, now)}, read at its next turn: ${text}`, 'warn']
        : ['message', `${id} read ${formatClockTime(read, now)}: ${text}`];
    });
}

/** Renders what a run waits for or does, with which agent and model, and its cost. Unknown facts are left out. */
export function renderRunLines(
  { data, now }: Pick<State, 'data' | 'now'>,
  row: ShownSession,
  cells: number,
): StyledLine[] {
  const { pause, resume_at: at, runs, continues, model, untold } = row;
  const held = findHeldRow(data, row);
  const isWaiting = at !== null && isPausedRun(row, now);
  const how = [
    row.machine === null ? '' : `on ${cleanText(row.machine)}`,
    model === null ? '' : `with ${model}`,
    describeRunMode(row),
    runs > 1 ? `run ${runs}` : '',
  ]
    .filter(Boolean)
    .join(' · ');
  return renderFacts(
    [
      [
        'paused',
        isWaiting
          ? `until ${formatClockTime(at, now)}, ${formatWait(at, now)} from now; R resumes it now, A opens it here`
          : null,
        'warn',
      ],
      ['why', isWaiting && pause !== null ? localizeTimes(`${pause.code}: ${pause.text}`) : null],
      [
        'waits',
        row.waits_for_task !== null
          ? `for ${row.waits_for_task}; svc task after ${row.task_id} --none lets it start`
          : held === undefined
            ? row.waits_for && `for another machine: ${cleanText(row.waits_for)}`
            : `${held.agent} is suspended ${describeRetryTime(held.reopen_at, now)}: ${held.code}: ${localizeTimes(held.text)}`,
        'bad',
      ],
      ...listMessages(data, row, now),
      ['does', row.state === 'running' ? row.activity : null, 'live'],
      ['runs', how],
      ['after', continues === null ? null : `${continues} (same worktree and conversation)`],
      ['spent', describeSpending(row)],
      ['untold', untold.length === 0 ? null : `this agent does not report ${untold.join(', or ')}`, 'warn'],
    ],
    cells,
  );
}

/** A mark for each state. Plain mode spells them `[x]`, `[>]` and `[ ]` (`PLAIN_MARKS`). */
const MARKS: Readonly<Record<ShownSession['plan'][number]['state'], { mark: string; style?: TextStyle }>> = {
  done: { mark: '▣', style: 'good' },
  active: { mark: '▷', style: 'live' },
  pending: { mark: '☐' },
};

export const PLAIN_MARKS: Readonly<Record<string, string>> = { '▣': '[x]', '▷': '[>]', '☐': '[ ]' };

const renderPlanSummary = ({ plan }: ShownSession, cells: number): StyledLine => {
  const done = plan.filter((each) => each.state === 'done').length;
  const next = plan.find((each) => each.state === 'active') ?? plan.find((each) => each.state === 'pending');
  const counts = `plan  ${done} of ${plan.length} done`;
  if (next === undefined) return [span(counts, 'dim')];
  const { mark, style } = MARKS[next.state];
  const text = truncateText(cleanText(next.text), Math.max(1, cells - counts.length - 5));
  return [span(`${counts} · `, 'dim'), span(`${mark} `, style), span(text)];
};

/** Renders the plan as a checklist of at most `rows` lines. With few rows, only a summary with the current step. */
export function renderChecklist(
  row: ShownSession,
  cells: number,
  rows = Number.POSITIVE_INFINITY,
): StyledLine[] {
  const { plan } = row;
  if (plan.length === 0 || rows < 1) return [];
  const all = plan.map((each): StyledLine[] => {
    const { mark, style } = MARKS[each.state];
    const texts = wrapText(cleanText(each.text), cells - 2);
    return texts.map((text, index) => [
      span(index === 0 ? `${mark} ` : '  ', style),
      span(text, each.state === 'done' ? 'dim' : undefined),
    ]);
  });
  if (all.flat().length <= rows) return all.flat();
  const counts = renderPlanSummary(row, cells);
  if (rows < 4) return [counts];
  // The steps around the current one, each cut to one line.
  const room = rows - 1;
  const at = plan.findIndex((each) => each.state !== 'done');
  const from = Math.max(0, Math.min((at < 0 ? plan.length : at) - 1, plan.length - room));
  return [counts, ...all.slice(from, from + room).map((lines) => lines[0]!)];
}

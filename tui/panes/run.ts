import { formatCount } from '../../engine/index.ts';
import type { Data, SessionRow, State } from '../state/model.ts';
import { clean, cut, factLines, wrap } from '../text.ts';
import { type Line, type Style, span } from '../theme.ts';
import { clockTime, howOf, isPaused, untilWords, wait } from './words.ts';

/** In at most five cells up to a hundred million. */
export function compact(count: number): string {
  if (count < 1000) return String(count);
  if (count < 99_950) return `${(count / 1000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return count < 99_950_000 ? `${(count / 1e6).toFixed(1)}M` : `${Math.round(count / 1e6)}M`;
}

/** All tokens of a session, in and out. */
export const tokensOf = ({ usage }: SessionRow): string =>
  usage === null ? '-' : compact(usage.input + usage.output);

const dollars = (cost: number): string => `$${cost.toFixed(cost < 0.01 ? 4 : 2)}`;

function spentOf({ usage, tool_calls: calls, token_budget: budget }: SessionRow): string {
  return [
    usage === null
      ? null
      : `${compact(usage.input)} in (${compact(usage.cached)} cached), ${compact(usage.output)} out`,
    budget === null ? null : `at most ${compact(budget)}`,
    usage?.cost_usd == null ? null : dollars(usage.cost_usd),
    calls === null || calls === 0 ? null : formatCount(calls, 'tool call'),
  ]
    .filter((each) => each !== null)
    .join(' · ');
}

const heldOf = ({ held }: Data, { agent, state }: SessionRow) =>
  state === 'queued' ? held.find((each) => each.agent === agent) : undefined;

/** What it waits for or does now, with what, and what that has cost; what is not known is left out. */
export function runLines({ data, now }: Pick<State, 'data' | 'now'>, row: SessionRow, cells: number): Line[] {
  const { pause, resume_at: at, runs, continues, model, untold } = row;
  const held = heldOf(data, row);
  const isWaiting = at !== null && isPaused(row, now);
  const how = [model, howOf(row), runs > 1 ? `run ${runs}` : ''].filter(Boolean).join(' · ');
  return factLines(
    [
      [
        'paused',
        isWaiting
          ? `until ${clockTime(at, now)}, ${wait(at, now)} from now; R lets it go on now, A opens it here`
          : null,
        'warn',
      ],
      ['why', isWaiting && pause !== null ? `${pause.code}: ${pause.text}` : null],
      [
        'waits',
        held === undefined
          ? null
          : `${held.agent} is held back ${untilWords(held.reopen_at, now)}: ${held.code}: ${held.text}`,
        'bad',
      ],
      ['does', row.state === 'running' ? row.activity : null, 'live'],
      ['with', how],
      ['after', continues === null ? null : `${continues}, whose worktree and conversation it goes on with`],
      ['spent', spentOf(row)],
      ['untold', untold.length === 0 ? null : `this agent does not say ${untold.join(', or ')}`, 'warn'],
    ],
    cells,
  );
}

/** Each has a sign of its own; where there is no screen they are `[x]`, `[>]` and `[ ]` (`PLAIN_MARKS`). */
const MARKS: Readonly<Record<SessionRow['plan'][number]['state'], { mark: string; style?: Style }>> = {
  done: { mark: '▣', style: 'good' },
  active: { mark: '▷', style: 'live' },
  pending: { mark: '☐' },
};

export const PLAIN_MARKS: Readonly<Record<string, string>> = { '▣': '[x]', '▷': '[>]', '☐': '[ ]' };

const summary = ({ plan }: SessionRow, cells: number): Line => {
  const done = plan.filter((each) => each.state === 'done').length;
  const next = plan.find((each) => each.state === 'active') ?? plan.find((each) => each.state === 'pending');
  const counts = `plan  ${done} of ${plan.length} done`;
  if (next === undefined) return [span(counts, 'dim')];
  const { mark, style } = MARKS[next.state];
  const text = cut(clean(next.text), Math.max(1, cells - counts.length - 5));
  return [span(`${counts} · `, 'dim'), span(`${mark} `, style), span(text)];
};

/** The plan as a checklist in at most `rows` lines; in few the step that is under way stands for it. */
export function checklist(row: SessionRow, cells: number, rows = Number.POSITIVE_INFINITY): Line[] {
  const { plan } = row;
  if (plan.length === 0 || rows < 1) return [];
  const all = plan.map((each): Line[] => {
    const { mark, style } = MARKS[each.state];
    const texts = wrap(clean(each.text), cells - 2);
    return texts.map((text, index) => [
      span(index === 0 ? `${mark} ` : '  ', style),
      span(text, each.state === 'done' ? 'dim' : undefined),
    ]);
  });
  if (all.flat().length <= rows) return all.flat();
  const counts = summary(row, cells);
  if (rows < 4) return [counts];
  // Around the step that is under way, each in one line.
  const room = rows - 1;
  const at = plan.findIndex((each) => each.state !== 'done');
  const from = Math.max(0, Math.min((at < 0 ? plan.length : at) - 1, plan.length - room));
  return [counts, ...all.slice(from, from + room).map((lines) => lines[0]!)];
}

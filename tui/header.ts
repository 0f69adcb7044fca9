import { formatCount, formatLocalTime } from '../engine/index.ts';
import { PANES, paneOf, tabOf } from './panes/index.ts';
import { clockTime, ends, sessionState } from './panes/words.ts';
import type { State } from './state/model.ts';
import { cut, drawable, width } from './text.ts';
import { type Line, type Span, span } from './theme.ts';

const some = (count: number, what: string): string | null => (count === 0 ? null : `${count} ${what}`);

const pausedOnes = ({ data, now }: State): number =>
  [...data.sessions.values()].filter((each) => sessionState(each, now) === 'paused').length;

/** Workspace at the left, engine at the right. */
export function headerLine(state: State): Line {
  const { link, data, size } = state;
  const { columns } = size;
  const left = ` svc · ${drawable(link.workspace)}`;
  const { status } = data;
  const receiver = status?.receivers[0];
  const parts = [
    link.phase === 'live' ? 'engine ok' : link.phase === 'connecting' ? 'connecting' : 'engine gone',
    status === null
      ? ''
      : receiver === undefined
        ? 'receiver off'
        : columns < 100
          ? `recv :${receiver.port}`
          : `receiver ${receiver.host}:${receiver.port}`,
    status === null
      ? ''
      : [
          `${status.workers.running} live`,
          some(status.workers.queued, 'queued'),
          some(pausedOnes(state), 'paused'),
        ]
          .filter((each) => each !== null)
          .join(', '),
    status !== null && status.deliveries.dead > 0 ? `${status.deliveries.dead} dead deliveries` : '',
    status?.config_problem ? 'svc.yaml has errors' : '',
    (status?.consent_pending ?? []).length > 0 ? 'svc.yaml waits' : '',
    data.notices.length === 0 ? '' : formatCount(data.notices.length, 'notice'),
  ].filter((part) => part !== '');
  const right = `${parts.join(' · ')} `;
  const shown = cut(left, Math.max(8, columns - width(right) - 1));
  const text = cut(ends(shown, right, columns), columns);
  return [
    span(text.slice(0, shown.length), 'title'),
    span(text.slice(shown.length), link.phase === 'lost' ? 'bad' : undefined),
  ];
}

/** Panes with their counts; the one that has the keyboard in brackets. */
export function tabsLine(state: State): Line {
  const tabs = PANES.map((pane) => {
    const count = pane.count(state.data);
    const isHere = pane.id === tabOf(state.focus);
    const within = isHere && pane.id !== state.focus ? ` · ${paneOf(state.focus).title}` : '';
    const counts = `${count === 0 && pane.quietAtZero ? '' : ` ${count}`}${pane.tab?.(state) ?? ''}`;
    // No number is known yet, and none of them is nought.
    const shown = state.link.phase === 'connecting' ? (pane.quietAtZero ? '' : ' …') : counts;
    return {
      waits: (pane.id === 'decisions' || pane.id === 'asks') && count > 0,
      isHere,
      short: `${pane.digit}${shown.replace(' ', ':')}`,
      text: `${pane.digit} ${pane.title}${shown}${within}`,
    };
  });
  // Where they do not all fit, the last ones keep their digit and their number, and then those before them.
  let room = tabs.reduce((sum, each) => sum + each.text.length + 2, 1);
  for (const tab of tabs.toReversed()) {
    if (room <= state.size.columns || tab.isHere) continue;
    room -= tab.text.length - tab.short.length;
    tab.text = tab.short;
  }
  return [
    span(' '),
    ...tabs.map(
      ({ isHere, text, waits }): Span =>
        isHere ? span(`[${text}] `, 'title') : span(`${text}  `, waits ? 'warn' : undefined),
    ),
  ];
}

/** Agents that are given no work, in one line: which, why, and when one of them is tried again. */
export function heldLine({ data: { held }, now, size }: State): Line[] {
  if (held.length === 0) return [];
  const each = held.map(({ agent, code, reopen_at: at }) => {
    const isDue = Date.parse(at) <= now;
    return `${drawable(agent)} (${code}, tried again ${isDue ? 'with its next run' : clockTime(at, now)})`;
  });
  const keys = ' · H gives work again';
  const text = ` held back: ${each.join(', ')}`;
  return [[span(cut(text, size.columns - width(keys)), 'bad'), span(keys)]];
}

/** Keys of svc.yaml that nobody has agreed to, and what that means. */
export function consentLine({ data: { status }, size }: State): Line[] {
  const waits = status?.consent_pending ?? [];
  if (waits.length === 0) return [];
  const [first = '', ...others] = waits;
  const which =
    others.length === 0
      ? `${first} waits, its earlier value is in use`
      : `${first} and ${others.length} more wait, the earlier values are in use`;
  // The key first: in a narrow terminal the end is cut.
  const what =
    status?.consent === 'none'
      ? `svc.yaml was never agreed to here: nothing is started (${waits.join(', ')})`
      : `svc.yaml: ${which}`;
  const keys = ' · T shows it and asks';
  return [[span(cut(` ${what}`, size.columns - width(keys)), 'bad'), span(keys)]];
}

/** Above the last known state while the engine is away, and while agents are given no work. */
export function bannerLines(state: State): Line[] {
  return [...goneLine(state), ...consentLine(state), ...heldLine(state)];
}

function goneLine({ link, size }: State): Line[] {
  if (link.phase !== 'lost') return [];
  const since = formatLocalTime(new Date(link.since).toISOString()).slice(5);
  const text = ` ENGINE GONE since ${since} · this is the last known state · u starts it · connecting`;
  return [[span(cut(text, size.columns), 'bad')]];
}

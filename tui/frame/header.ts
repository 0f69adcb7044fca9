import { formatLocalTime } from '../../engine/core/base/text.ts';
import { describeLinkState, nameSessionState } from '../../engine/index.ts';
import { isCombinedPane } from '../pane-ids.ts';
import { getPane, getTabPane, PANES } from '../panes/index.ts';
import { alignEnds } from '../panes/lines.ts';
import { formatClockTime } from '../panes/time.ts';
import { describeToday, sumToday } from '../panes/today.ts';
import type { State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, truncateText } from '../text/text.ts';
import { type StyledLine, type StyledSpan, span } from '../text/theme.ts';

const formatNonZero = (count: number, what: string): string | null =>
  count === 0 ? null : `${count} ${what}`;

const countPausedSessions = ({ data, now }: State): number =>
  [...data.sessions.values()].filter((each) => nameSessionState(each, now) === 'paused').length;

/** Describes the costs of the day so far; in a narrow header only its tokens. */
function describeTotals({ data, now, size }: State): string {
  const { runs, tokens, money } = describeToday(sumToday(data, now), data.usage);
  const all = size.columns < WIDE_HEADER ? [tokens] : [runs, tokens, money];
  return all.filter((each) => each !== '').join(', ');
}

/** The width from which the header has room for all totals of the day. */
const WIDE_HEADER = 120;

/** Renders the workspace at the left, the engine at the right. */
export function renderHeaderLine(state: State): StyledLine {
  const { link, data, size, across } = state;
  const { columns } = size;
  const back = across === null ? '' : ' (W all)';
  const left = ` svc · ${makeDrawable(across?.label ?? link.workspace)}${back}`;
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
          formatNonZero(status.workers.queued, 'queued'),
          formatNonZero(countPausedSessions(state), 'paused'),
        ]
          .filter((each) => each !== null)
          .join(', '),
    status !== null && status.deliveries.dead > 0 ? `${status.deliveries.dead} dead deliveries` : '',
    status === null ? '' : (describeLinkState(status.link) ?? ''),
    status?.config_problem ? 'svc.yaml has errors' : '',
    (status?.consent_pending ?? []).length > 0 ? 'svc.yaml waits' : '',
    describeTotals(state),
  ].filter((part) => part !== '');
  const right = `${parts.join(' · ')} `;
  const shown = truncateText(left, Math.max(8, columns - measureCells(right) - 1));
  const text = truncateText(alignEnds(shown, right, columns), columns);
  return [
    span(text.slice(0, shown.length), 'title'),
    span(text.slice(shown.length), link.phase === 'lost' ? 'bad' : undefined),
  ];
}

/** How many letters of a pane's name its tab has if there is little room. */
const BRIEF_TITLE = 3;

/**
 * Renders the panes with their counts. The focused one is in brackets.
 * @param states of all workspaces whose rows are in the lists; other text of a tab is about one
 */
export function renderTabsLine(state: State, states: readonly State[] = [state]): StyledLine {
  const tabs = PANES.map((pane) => {
    const isCombined = states.length > 1 && isCombinedPane(pane.id);
    const counted = isCombined ? states : [state];
    const count = counted.reduce((sum, each) => sum + pane.countUnfinished(each.data), 0);
    const isFocusedTab = pane.id === getTabPane(state.focus);
    const within = isFocusedTab && pane.id !== state.focus ? ` · ${getPane(state.focus).title}` : '';
    const counts = `${count === 0 && pane.isQuietAtZero ? '' : ` ${count}`}${isCombined ? '' : (pane.describeTab?.(state) ?? '')}`;
    // Nothing has been fetched yet, so 0 would be wrong.
    const shown = counted.every((each) => each.link.phase === 'connecting')
      ? pane.isQuietAtZero
        ? ''
        : ' …'
      : counts;
    return {
      waits: (pane.id === 'decisions' || pane.id === 'asks') && count > 0,
      isFocusedTab,
      short: `${pane.digit}${shown.replace(' ', ':')}`,
      brief: `${pane.digit} ${pane.title.slice(0, BRIEF_TITLE)}${shown}`,
      text: `${pane.digit} ${pane.title}${shown}${within}`,
    };
  });
  // If not all tabs fit, they shrink, the last one first: all of them to the start of their names before any to its digit.
  let room = tabs.reduce((sum, each) => sum + each.text.length + 2, 2);
  for (const form of ['brief', 'short'] as const)
    for (const tab of tabs.toReversed()) {
      if (room <= state.size.columns || tab.isFocusedTab) continue;
      const next = tab[form].length < tab.text.length ? tab[form] : tab.text;
      room -= tab.text.length - next.length;
      tab.text = next;
    }
  return [
    span(' '),
    ...tabs.map(
      ({ isFocusedTab, text, waits }): StyledSpan =>
        isFocusedTab ? span(`[${text}] `, 'title') : span(`${text}  `, waits ? 'warn' : undefined),
    ),
  ];
}

/** Renders the suspended agents, with the reason and the next try. */
export function renderHeldLines({ data: { held }, now, size }: State): StyledLine[] {
  if (held.length === 0) return [];
  const each = held.map(({ agent, code, reopen_at: at }) => {
    const isDue = Date.parse(at) <= now;
    return `${makeDrawable(agent)} (${code}, tried again ${isDue ? 'with its next run' : formatClockTime(at, now)})`;
  });
  const keys = '  · H resumes';
  const text = `  suspended: ${each.join(', ')}`;
  return [[span(truncateText(text, size.columns - measureCells(keys)), 'bad'), span(keys)]];
}

/** Renders the keys of svc.yaml that wait for consent, and what is in use until then. */
export function renderConsentLines({ data: { status }, size }: State): StyledLine[] {
  const waits = status?.consent_pending ?? [];
  if (waits.length === 0) return [];
  const [first = '', ...others] = waits;
  const which =
    others.length === 0
      ? `${first} waits, its earlier value is in use`
      : `${first} and ${others.length} more wait, the earlier values are in use`;
  // The key comes first, since a narrow terminal cuts the end.
  const what =
    status?.consent === 'none'
      ? `svc.yaml was never agreed to here: nothing starts (${waits.join(', ')})`
      : `svc.yaml: ${which}`;
  const keys = ' · T shows it and asks';
  return [[span(truncateText(` ${what}`, size.columns - measureCells(keys)), 'bad'), span(keys)]];
}

/** Lines above the panes: the engine is gone, svc.yaml waits for consent, agents are suspended. */
export function renderBannerLines(state: State): StyledLine[] {
  return [...renderEngineGoneLines(state), ...renderConsentLines(state), ...renderHeldLines(state)];
}

function renderEngineGoneLines({ link, size, across }: State): StyledLine[] {
  if (link.phase !== 'lost') return [];
  const since = formatLocalTime(new Date(link.since).toISOString()).slice(5);
  const whose = across === null ? '' : `${makeDrawable(across.label)}: `;
  const text = ` ${whose}ENGINE GONE since ${since} · this is the last known state · u starts it · connecting`;
  return [[span(truncateText(text, size.columns), 'bad')]];
}

import { formatClockTime, formatLocalTime } from '../../engine/core/base/text.ts';
import { describeLinkState, nameSessionState } from '../../engine/index.ts';
import { alignEnds } from '../panes/lines.ts';
import { describeToday } from '../panes/today.ts';
import { listWaitingCounts } from '../panes/waiting.ts';
import type { State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, truncateText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

const formatNonZero = (count: number, what: string): string | null =>
  count === 0 ? null : `${count} ${what}`;

const countPausedSessions = ({ data, now }: State): number =>
  [...data.sessions.values()].filter((each) => nameSessionState(each, now) === 'paused').length;

/** Lists facts about the engine, the most important first. A narrow header leaves out the last ones. */
function listEngineFacts(state: State): string[] {
  const { link, data, now } = state;
  const { status } = data;
  const receiver = status?.receivers[0];
  const { runs, tokens, money } = describeToday(data, now);
  const phase = { live: 'engine ok', connecting: 'connecting', lost: 'engine gone' }[link.phase];
  const workers = [
    status === null ? null : `${status.workers.running} live`,
    formatNonZero(status?.workers.queued ?? 0, 'queued'),
    formatNonZero(countPausedSessions(state), 'paused'),
  ];
  const listens = receiver === undefined ? 'receiver off' : `receiver ${receiver.host}:${receiver.port}`;
  return [
    phase,
    status?.config_problem ? 'svc.yaml has errors' : '',
    (status?.consent_pending ?? []).length > 0 ? 'svc.yaml waits' : '',
    formatNonZero(status?.deliveries.dead ?? 0, 'dead deliveries') ?? '',
    workers.filter((each) => each !== null).join(', '),
    tokens,
    money,
    status === null ? '' : (describeLinkState(status.link) ?? ''),
    status === null ? '' : listens,
    runs,
  ].filter((part) => part !== '');
}

/** Renders the workspace and what needs the person at the left, the engine at the right. */
export function renderHeaderLine(state: State): StyledLine {
  const { link, size, across } = state;
  const back = across === null ? '' : ' (W all)';
  const name = ` svc · ${makeDrawable(across?.label ?? link.workspace)}${back}`;
  const urgent = link.phase === 'connecting' ? '' : listWaitingCounts(state).join(' · ');
  return renderHeader([name, urgent], listEngineFacts(state), size.columns, link.phase === 'lost');
}

/** Renders a header: a name and what needs the person at the left, as many facts as fit at the right. */
export function renderHeader(
  [name, urgent]: readonly [name: string, urgent: string],
  facts: readonly string[],
  columns: number,
  isBad: boolean,
): StyledLine {
  const told = urgent === '' ? '' : ` · ${urgent}`;
  const shownName = truncateText(name, Math.max(12, columns - measureCells(told) - 14));
  const shown = truncateText(shownName + told, columns - 12);
  const room = columns - measureCells(shown) - 2;
  const fitting: string[] = [];
  for (const fact of facts) if (measureCells([...fitting, fact].join(' · ')) <= room) fitting.push(fact);
  const text = alignEnds(shown, `${fitting.join(' · ')} `, columns);
  return [
    span(text.slice(0, shownName.length), 'title'),
    span(text.slice(shownName.length, shown.length), 'question'),
    span(text.slice(shown.length), isBad ? 'bad' : undefined),
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

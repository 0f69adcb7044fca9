import { formatCount, formatLocalTime } from '../../engine/index.ts';
import { showsLog } from '../acts/moving.ts';
import { consentLine, heldLine } from '../header.ts';
import { hintLine } from '../hints.ts';
import { questionLines } from '../layout/bottom.ts';
import { emptyText } from '../layout/list.ts';
import { overlayView } from '../overlays/index.ts';
import { isLine, labelOf } from '../overlays/line.ts';
import { eventAbout, eventSaid } from '../panes/events.ts';
import { paneOf, previewOf, selectedRow } from '../panes/index.ts';
import type { Pane } from '../panes/pane.ts';
import { PLAIN_MARKS } from '../panes/run.ts';
import { endOf } from '../state/log.ts';
import type { EventRow, PaneId, State } from '../state/model.ts';
import { clean, cleanLines } from '../text.ts';
import { type Line, plainText } from '../theme.ts';

const MOST_ROWS = 1000;

/**
 * What has changed between two states, as lines in the order in which they matter: for screen readers and for logs.
 * The state, the keys and the actions are those of the screen; only the telling is another.
 */
export function changes(before: State, after: State): string[] {
  return [
    ...linkLines(before, after),
    ...arrivals(before, after),
    ...messageLines(before, after),
    ...focusLines(before, after),
    ...readLines(before, after),
    ...overlayLines(before, after),
    ...questionTexts(before, after),
  ];
}

function linkLines({ link: before }: State, after: State): string[] {
  const { link, data } = after;
  if (link.phase === before.phase) return [];
  if (link.phase === 'lost') return [`ENGINE GONE: ${clean(link.reason ?? 'unknown')}. u starts it.`];
  const count = (id: PaneId): number => paneOf(id).count(data);
  return [
    ...[...consentLine(after), ...heldLine(after)].map((line) => plainText(line).trim()),
    `Connected to ${clean(link.workspace)}: ${formatCount(count('decisions'), 'decision waits', 'decisions wait')}, ${formatCount(count('asks'), 'ask waits', 'asks wait')}, ${formatCount(count('bus'), 'unread message')}, ${formatCount(count('tasks'), 'open task')}, ${formatCount(count('workers'), 'live worker')}.`,
  ];
}

/** Events and notices that came while it was open. */
function arrivals(before: State, after: State): string[] {
  const { events: known } = before.data;
  const last = known.at(-1)?.seq;
  const events =
    last === undefined || after.data.events === known
      ? []
      : after.data.events.filter((each) => each.seq > last);
  const notices = after.data.notices.filter((each) => !before.data.notices.includes(each));
  return [
    ...events.map(eventLine),
    ...notices.flatMap((each) =>
      cleanLines(each.text)
        .filter((line) => line.trim() !== '')
        .map((line) => `notice to ${clean(each.session)}: ${line}`),
    ),
  ];
}

function eventLine(event: EventRow): string {
  const text = eventSaid(event);
  return `${formatLocalTime(event.at).slice(11)} ${event.kind} ${eventAbout(event)}${text === '' ? '' : `: ${text}`}`;
}

function messageLines({ message: before }: State, { message }: State): string[] {
  if (message === null || message === before) return [];
  const prefix = message.tone === 'bad' ? 'FAILED: ' : '';
  return [
    `${prefix}${clean(message.text)}${message.hint === undefined ? '' : `. Next: ${clean(message.hint)}`}`,
  ];
}

/** The row that has the cursor, when it is another one or reads otherwise; that time goes by is not told. */
function focusLines(before: State, after: State): string[] {
  if (after.link.phase === 'connecting') return [];
  const then = { ...before, now: after.now };
  const isSame =
    before.link.phase !== 'connecting' &&
    rowLine(after, { isWhole: false }) === rowLine(then, { isWhole: false });
  return isSame ? [] : [rowLine(after, { isWhole: true })];
}

function rowLine(state: State, { isWhole }: { isWhole: boolean }): string {
  const pane = paneOf(state.focus) as unknown as Pane<object>;
  const list = state.lists[state.focus];
  const row = selectedRow(state, state.focus);
  if (row === undefined) return `${pane.title}: ${emptyText(pane, state)[0]}`;
  const cells = pane.columns
    .filter((column) => isWhole || !column.isLively)
    .map((column) => clean(column.text(row, state)))
    .filter((text) => text.trim() !== '');
  return `${pane.title} ${list.index + 1} of ${list.ids.length}: ${cells.join(', ')}`;
}

/** What was opened to be read: all of it, and of a log what comes. */
function readLines(before: State, after: State): string[] {
  if (after.view !== 'full') return [];
  if (showsLog(after) && before.view === 'full') {
    const from = before.log.session === after.log.session ? endOf(before.log) : after.log.first;
    return after.log.lines.slice(Math.max(0, from - after.log.first));
  }
  const isNew =
    before.view !== 'full' ||
    (before.details !== after.details && previewText(before) !== previewText(after));
  return isNew ? [previewText(after)] : [];
}

function previewText(state: State): string {
  const preview = previewOf(state, state.focus, state.size.columns);
  if (preview === null) return 'nothing is selected';
  const lines = [...(preview.pinned ?? []), ...preview.lines].slice(0, MOST_ROWS).map(spoken);
  return [
    `${preview.title}${preview.note ? `, ${preview.note}` : ''}`,
    ...lines,
    `end of ${preview.title}. Esc goes back.`,
  ].join('\n');
}

/** A rule says nothing, and signs have names that nobody wants to hear. */
const spoken = (line: Line): string => {
  const text = plainText(line).trimEnd();
  return /^─+$/.test(text)
    ? ''
    : text.replace(/^(\s*|.* · )([▣▷☐])(?= )/, (_, before, mark) => before + PLAIN_MARKS[mark]);
};

function overlayLines({ overlay: before }: State, after: State): string[] {
  const { overlay, size } = after;
  if (overlay === before) return [];
  if (overlay === null) return ['closed'];
  if (isLine(overlay)) return [`${labelOf(overlay).label}: ${overlay.input.value}`];
  const view = overlayView(after, overlay, { cells: size.columns, rows: MOST_ROWS });
  if (view === null) return [];
  const lines = view.lines.map((line) => plainText(line).trimEnd());
  if (before?.kind !== overlay.kind) return [`${view.title}. ${view.keys}`, ...lines];
  // While it is typed in, only what reads otherwise.
  const known = overlayView(after, before, { cells: size.columns, rows: MOST_ROWS })?.lines ?? [];
  const told = new Set(known.map((line) => plainText(line).trimEnd()));
  return lines.filter((line) => !told.has(line));
}

function questionTexts(before: State, after: State): string[] {
  if (after.armed === before.armed) return [];
  if (after.armed !== null) return questionLines(after).map((line) => plainText(line).trim());
  // An answer is told by what it does.
  const isLeft = (['message', 'busy', 'overlay'] as const).every((each) => after[each] === before[each]);
  return isLeft ? ['nothing was done'] : [];
}

/** The keys of the moment, for whoever asks. */
export const keysLine = (state: State): string =>
  `Keys: ${plainText(hintLine(state)).trim().replace(/ {2,}/g, ', ')}`;

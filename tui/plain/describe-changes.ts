import { formatCount, formatLocalTime, localizeTimes, stripMarkdown } from '../../engine/core/base/text.ts';
import { nameEvent } from '../../engine/index.ts';
import { isShowingLog } from '../actions/navigation.ts';
import { listColumns } from '../frame/fit-columns.ts';
import { renderConsentLines, renderHeldLines } from '../frame/header.ts';
import { renderHintLine } from '../frame/hint-line.ts';
import { explainEmptyList } from '../frame/list-lines.ts';
import { renderQuestionLines } from '../layout/bottom-lines.ts';
import { countLive } from '../layout/layout.ts';
import { describeLineOverlay, describeTyped, isLineOverlay } from '../overlays/bottom-line.ts';
import { renderOverlay } from '../overlays/index.ts';
import { describeEvent, describeEventSubjects, NOTICE_HEAD } from '../panes/events.ts';
import { getPane, getPreview, getSelectedRow } from '../panes/index.ts';
import { type Pane, TOLD_CELLS } from '../panes/pane.ts';
import { PLAIN_MARKS } from '../panes/run-facts.ts';
import { listWaitingCounts } from '../panes/waiting.ts';
import { getLogEnd, isSameLog } from '../state/log.ts';
import type { State } from '../state/model.ts';
import type { EventRow } from '../state/rows.ts';
import { cleanText, splitCleanLines } from '../text/text.ts';
import { type StyledLine, toPlainText } from '../text/theme.ts';

const MOST_ROWS = 1000;

/**
 * Describes what has changed between two states, most important first, for screen readers and logs. State, keys and
 * actions are the same as on the screen; only the output differs.
 */
export function describeChanges(before: State, after: State): string[] {
  const lines = [
    ...describeConnectionChange(before, after),
    ...describeArrivals(before, after),
    ...describeNewMessage(before, after),
    ...describeCursorChange(before, after),
    ...describeNewText(before, after),
    ...describeOverlayChange(before, after),
    ...describeQuestionChange(before, after),
  ];
  return lines.map(localizeTimes);
}

function describeConnectionChange({ link: before }: State, after: State): string[] {
  const { link, data } = after;
  if (link.phase === before.phase) return [];
  if (link.phase === 'lost') return [`ENGINE GONE: ${cleanText(link.reason ?? 'unknown')}. u starts it.`];
  const waiting = listWaitingCounts(after).join(', ') || 'nothing waits for you';
  return [
    ...[...renderConsentLines(after), ...renderHeldLines(after)].map((line) => toPlainText(line).trim()),
    `Connected to ${cleanText(link.workspace)}: ${waiting}, ${formatCount(getPane('work').countUnfinished(data), 'open task')}, ${formatCount(countLive(data), 'live run')}, ${formatCount(data.unread.unread, 'unread message')}.`,
  ];
}

/** Describes events and notices that arrived since the dashboard was opened. */
function describeArrivals(before: State, after: State): string[] {
  const { events: known } = before.data;
  const last = known.at(-1)?.seq;
  const events =
    last === undefined || after.data.events === known
      ? []
      : after.data.events.filter((each) => each.seq > last);
  const notices = after.data.notices.filter((each) => !before.data.notices.includes(each));
  return [
    ...events.map(formatEventLine),
    ...notices.flatMap((each) =>
      splitCleanLines(each.text.replace(NOTICE_HEAD, ''))
        .filter((line) => line.trim() !== '')
        .map((line) => `notice to ${cleanText(each.session)}: ${localizeTimes(stripMarkdown(line))}`),
    ),
  ];
}

function formatEventLine(event: EventRow): string {
  const text = describeEvent(event);
  return `${formatLocalTime(event.at).slice(11)} ${nameEvent(event.kind)} ${describeEventSubjects(event)}${text === '' ? '' : `: ${text}`}`;
}

function describeNewMessage({ message: before }: State, { message }: State): string[] {
  if (message === null || message === before) return [];
  const prefix = message.tone === 'bad' ? 'FAILED: ' : '';
  return [
    `${prefix}${cleanText(message.text)}${message.hint === undefined ? '' : `. Next: ${cleanText(message.hint)}`}`,
  ];
}

/** Describes the row under the cursor, if it is another row or its text has changed. The passing of time alone is not a change. */
function describeCursorChange(before: State, after: State): string[] {
  if (after.link.phase === 'connecting') return [];
  const then = { ...before, now: after.now };
  const isSame =
    before.link.phase !== 'connecting' &&
    describeCursorRow(after, { isWhole: false }) === describeCursorRow(then, { isWhole: false });
  return isSame ? [] : [describeCursorRow(after, { isWhole: true })];
}

function describeCursorRow(state: State, { isWhole }: { isWhole: boolean }): string {
  const pane = getPane(state.focus) as unknown as Pane<object>;
  const list = state.lists[state.focus];
  const row = getSelectedRow(state, state.focus);
  if (row === undefined) return `${pane.title}: ${explainEmptyList(pane, state)[0]}`;
  const cells = listColumns(pane, TOLD_CELLS)
    .filter((column) => isWhole || !column.isLively)
    .map(({ head, text }) => ({ head, text: cleanText(text(row, state)) }))
    .filter(({ text }) => text.trim() !== '')
    .map(({ head, text }) => `${head} ${text}`);
  return `${pane.title} ${list.index + 1} of ${list.ids.length}: ${cells.join(', ')}`;
}

/** Prints the whole text of an opened item; for a log, the added lines. */
function describeNewText(before: State, after: State): string[] {
  if (after.view !== 'full') return [];
  if (isShowingLog(after) && before.view === 'full') {
    const from = isSameLog(before.log.source, after.log.source) ? getLogEnd(before.log) : after.log.first;
    return after.log.lines.slice(Math.max(0, from - after.log.first));
  }
  const isNew =
    before.view !== 'full' ||
    (before.details !== after.details && formatPreview(before) !== formatPreview(after));
  return isNew ? [formatPreview(after)] : [];
}

function formatPreview(state: State): string {
  const preview = getPreview(state, state.focus, state.size.columns);
  if (preview === null) return 'nothing is selected';
  const lines = [...(preview.pinned ?? []), ...preview.lines].slice(0, MOST_ROWS).map(formatSpokenLine);
  return [
    `${preview.title}${preview.note ? `, ${preview.note}` : ''}`,
    ...lines,
    `end of ${preview.title}. Esc returns.`,
  ].join('\n');
}

/** Drops rules and spells out marks, since a screen reader would read their Unicode names. */
const formatSpokenLine = (line: StyledLine): string => {
  const text = toPlainText(line).trimEnd();
  return /^─+$/.test(text)
    ? ''
    : text.replace(/^(\s*|.* · )([▣▷☐])(?= )/, (_, before, mark) => before + PLAIN_MARKS[mark]);
};

function describeOverlayChange(earlier: State, after: State): string[] {
  const { overlay, size } = after;
  const { overlay: before } = earlier;
  // Its contents may have been fetched in the meantime.
  if (overlay === before && earlier.details === after.details) return [];
  if (overlay === null) return before === null ? [] : ['closed'];
  if (isLineOverlay(overlay))
    return [`${describeLineOverlay(overlay).label}: ${describeTyped(overlay, ({ value }) => value)}`];
  const view = renderOverlay(after, overlay, { cells: size.columns, rows: MOST_ROWS });
  if (view === null) return [];
  const lines = view.lines.map((line) => toPlainText(line).trimEnd());
  if (before?.kind !== overlay.kind) return [`${view.title}. ${view.keys}`, ...lines];
  // While the person types, only lines that have changed.
  const known = renderOverlay(earlier, before, { cells: size.columns, rows: MOST_ROWS })?.lines ?? [];
  const told = new Set(known.map((line) => toPlainText(line).trimEnd()));
  return lines.filter((line) => !told.has(line));
}

function describeQuestionChange(before: State, after: State): string[] {
  if (after.armed === before.armed) return [];
  if (after.armed !== null) return renderQuestionLines(after).map((line) => toPlainText(line).trim());
  // An answer that does something changes the message, the pending calls or the overlay.
  const isUnchanged = (['message', 'busy', 'overlay'] as const).every((each) => after[each] === before[each]);
  return isUnchanged ? ['nothing was done'] : [];
}

/** Lists the available keys. */
export const describeCurrentKeys = (state: State): string =>
  `Keys: ${toPlainText(renderHintLine(state)).trim().replace(/ {2,}/g, ', ')}`;

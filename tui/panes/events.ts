import {
  formatClockTime,
  formatLocalTime,
  localizeTimes,
  stripMarkdown,
} from '../../engine/core/base/text.ts';
import { nameEvent } from '../../engine/index.ts';
import type { DashboardData, EventRow, ListedNotice } from '../state/rows.ts';
import { describeWindow } from '../state/windows.ts';
import { cleanText, renderFacts, splitCleanLines } from '../text/text.ts';
import { span, type TextStyle } from '../text/theme.ts';
import { formatFirstLine } from './bus.ts';
import { renderQuote } from './lines.ts';
import { definePane } from './pane.ts';

/** Lists the ids of everything that an event is about. */
export function describeEventSubjects(event: EventRow): string {
  const { task_id: task, decision_id: decision, session_id: session, data } = event;
  const ask = typeof data.ask_id === 'number' ? `ask ${data.ask_id}` : null;
  const message = typeof data.message_id === 'number' ? `message ${data.message_id}` : null;
  const ids = [ask, message, task, decision, session].filter(Boolean).join(' ');
  // Some events are about an agent only.
  return ids === '' && typeof data.agent === 'string' ? cleanText(data.agent) : ids;
}

/** Describes the reason and title of an event, if it has them; for a pause, also when it ends. */
export function describeEvent({ kind, at, data }: EventRow): string {
  const { reason, title, agent, resume_at: resumeAt } = data;
  const until =
    typeof resumeAt === 'string' ? `it resumes ${formatClockTime(resumeAt, Date.parse(at))}` : undefined;
  const reset =
    kind === 'circuit_reset' && typeof agent === 'string' ? `${agent} takes work again` : undefined;
  const parts = [reset, reason, until, title];
  const texts = parts.filter((each) => typeof each === 'string').map(stripMarkdown);
  return localizeTimes(cleanText(texts.join(' · ')));
}

/** An event or a notice. */
type TimelineRow =
  | { id: string; at: string; event: EventRow }
  | { id: string; at: string; notice: ListedNotice };

const listTimeline = ({ events, notices }: DashboardData): TimelineRow[] =>
  [
    ...events.map((event): TimelineRow => ({ id: `e-${event.seq}`, at: event.at, event })),
    ...notices.map((notice): TimelineRow => ({ id: notice.id, at: notice.at, notice })),
  ].sort(
    (one, other) =>
      Date.parse(other.at) - Date.parse(one.at) || other.id.localeCompare(one.id, 'en', { numeric: true }),
  );

const getRowKind = (row: TimelineRow): string => ('event' in row ? row.event.kind : 'notice');
const nameRow = (row: TimelineRow): string => nameEvent(getRowKind(row));
const describeRowSubjects = (row: TimelineRow): string =>
  'event' in row ? describeEventSubjects(row.event) : row.notice.session;
const getRowActor = (row: TimelineRow): string =>
  'event' in row ? (row.event.actor ?? '') : row.notice.session;

/** The header of a notice in a file: its number and kind, its sender and its recipient. */
export const NOTICE_HEAD = /^\s*## Message .*\n(?:\n|- (?:from|to): .*\n)*/;

const describeRow = (row: TimelineRow): string =>
  'event' in row ? describeEvent(row.event) : formatFirstLine(row.notice.text.replace(NOTICE_HEAD, ''));

const getKindStyle = (kind: string): TextStyle | undefined => {
  if (/failed|alert|dead|conflict/.test(kind)) return 'bad';
  if (kind === 'session_paused' || kind === 'session_dropped') return 'warn';
  return /^(?:session_resumed|circuit_reset)$/.test(kind) ? 'good' : undefined;
};

export const eventsPane = definePane<TimelineRow>({
  id: 'events',
  digit: '3',
  title: 'Events',
  dataParts: ['events', 'notices'],
  listRows: listTimeline,
  getRowId: (row) => row.id,
  findRow: (data, id) => {
    const event = id.startsWith('e-') ? data.events.find((each) => `e-${each.seq}` === id) : undefined;
    if (event !== undefined) return { id, at: event.at, event };
    const notice = data.notices.find((each) => each.id === id);
    return notice === undefined ? undefined : { id, at: notice.at, notice };
  },
  fields: {
    kind: (row) => `${getRowKind(row)} ${nameRow(row)}`,
    about: describeRowSubjects,
    actor: getRowActor,
    text: describeRow,
  },
  columns: [
    { head: 'time', width: 8, text: (row) => formatLocalTime(row.at).slice(11) },
    {
      head: 'what',
      width: 17,
      text: nameRow,
      style: (row) => getKindStyle(getRowKind(row)),
    },
    { head: 'about', width: 16, minWidth: 60, text: describeRowSubjects },
    { head: 'who', width: 8, minWidth: 76, text: (row) => getRowActor(row) },
    { head: 'text', text: describeRow },
  ],
  // Nothing here is pending: the message of a notice is in Bus, which counts unread ones.
  countUnfinished: () => 0,
  note: ({ data }) => describeWindow('events', data.events.length),
  isQuietAtZero: true,
  staysOnFirstRow: true,
  empty: [
    'Nothing has happened yet.',
    '',
    'Changes, and what workers say (.svc/notices), appear here, one line each.',
  ],
  renderPreview: (_state, row, cells) => ({
    title: nameRow(row),
    note: formatLocalTime(row.at),
    lines:
      'notice' in row
        ? renderQuote(splitCleanLines(row.notice.text), cells)
        : [
            ...renderFacts(
              [
                ['event', `${row.event.seq} ${row.event.kind}`],
                ['about', describeRowSubjects(row)],
                ['by', row.event.actor === null ? null : `${row.event.actor} (${row.event.via})`],
              ],
              cells,
            ),
            ...Object.entries(row.event.data)
              .filter(([, value]) => value !== null)
              .map(([name, value]) => [
                span(`${name} `, 'dim'),
                span(cleanText(typeof value === 'string' ? value : JSON.stringify(value))),
              ]),
          ],
  }),
});

import { formatLocalTime } from '../../engine/index.ts';
import type { Data, EventRow, Notice } from '../state/model.ts';
import { windowNote } from '../state/windows.ts';
import { clean, cleanLines, factLines } from '../text.ts';
import { type Style, span } from '../theme.ts';
import { pane } from './pane.ts';
import { clockTime, quoted } from './words.ts';

/** The ids that an event is about. */
export function eventAbout(event: EventRow): string {
  const { task_id: task, decision_id: decision, session_id: session, data } = event;
  const ask = typeof data.ask_id === 'number' ? `ask ${data.ask_id}` : null;
  const message = typeof data.message_id === 'number' ? `message ${data.message_id}` : null;
  const ids = [ask, message, task, decision, session].filter(Boolean).join(' ');
  // Some are about an agent and nothing else.
  return ids === '' && typeof data.agent === 'string' ? clean(data.agent) : ids;
}

/** Its reason and its title, as far as it has them; of a pause also its end. */
export function eventSaid({ kind, at, data }: EventRow): string {
  const { reason, title, agent, resume_at: resumeAt } = data;
  const until =
    typeof resumeAt === 'string' ? `it goes on ${clockTime(resumeAt, Date.parse(at))}` : undefined;
  const reset =
    kind === 'circuit_reset' && typeof agent === 'string' ? `${agent} is given work again` : undefined;
  const parts = [reset, reason, until, title];
  return clean(parts.filter((each) => typeof each === 'string').join(' · '));
}

/** What happened, or what a worker said. */
type Happening = { id: string; at: string; event: EventRow } | { id: string; at: string; notice: Notice };

const happenings = ({ events, notices }: Data): Happening[] =>
  [
    ...events.map((event): Happening => ({ id: `e-${event.seq}`, at: event.at, event })),
    ...notices.map((notice): Happening => ({ id: notice.id, at: notice.at, notice })),
  ].sort(
    (one, other) =>
      Date.parse(other.at) - Date.parse(one.at) || other.id.localeCompare(one.id, 'en', { numeric: true }),
  );

const kindOf = (row: Happening): string => ('event' in row ? row.event.kind : 'notice');
const aboutOf = (row: Happening): string => ('event' in row ? eventAbout(row.event) : row.notice.session);
const actorOf = (row: Happening): string => ('event' in row ? (row.event.actor ?? '') : row.notice.session);

const saidOf = (row: Happening): string =>
  'event' in row ? eventSaid(row.event) : clean(row.notice.text.trim().split('\n')[0] ?? '');

const kindStyle = (kind: string): Style | undefined => {
  if (/failed|alert|dead|conflict/.test(kind)) return 'bad';
  if (kind === 'session_paused' || kind === 'session_dropped') return 'warn';
  return /^(?:session_resumed|circuit_reset)$/.test(kind) ? 'good' : undefined;
};

export const eventsPane = pane<Happening>({
  id: 'events',
  digit: '7',
  title: 'Events',
  from: ['events', 'notices'],
  rows: happenings,
  idOf: (row) => row.id,
  row: (data, id) => {
    const event = id.startsWith('e-') ? data.events.find((each) => `e-${each.seq}` === id) : undefined;
    if (event !== undefined) return { id, at: event.at, event };
    const notice = data.notices.find((each) => each.id === id);
    return notice === undefined ? undefined : { id, at: notice.at, notice };
  },
  fields: { kind: kindOf, about: aboutOf, actor: actorOf, text: saidOf },
  columns: [
    { head: 'time', width: 8, text: (row) => formatLocalTime(row.at).slice(11) },
    {
      head: 'what',
      width: 17,
      text: kindOf,
      style: (row) => kindStyle(kindOf(row)),
    },
    { head: 'about', width: 16, from: 60, text: aboutOf },
    { head: 'who', width: 8, from: 76, text: (row) => actorOf(row) },
    { head: 'text', text: saidOf },
  ],
  count: (data) => data.notices.length,
  note: ({ data }) => windowNote('events', data.events.length),
  quietAtZero: true,
  follows: true,
  empty: [
    'Nothing has happened yet.',
    '',
    'Every change is one line here, and what workers say (.svc/notices).',
  ],
  preview: (_state, row, cells) => ({
    title: kindOf(row),
    note: formatLocalTime(row.at),
    lines:
      'notice' in row
        ? quoted(cleanLines(row.notice.text), cells)
        : [
            ...factLines(
              [
                ['event', `${row.event.seq} ${row.event.kind}`],
                ['about', aboutOf(row)],
                ['by', row.event.actor === null ? null : `${row.event.actor} (${row.event.via})`],
              ],
              cells,
            ),
            ...Object.entries(row.event.data)
              .filter(([, value]) => value !== null)
              .map(([name, value]) => [
                span(`${name} `, 'dim'),
                span(clean(typeof value === 'string' ? value : JSON.stringify(value))),
              ]),
          ],
  }),
});

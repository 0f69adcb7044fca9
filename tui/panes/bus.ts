import { formatCount, formatLocalTime, stripMarkdown } from '../../engine/core/base/text.ts';
import type { State } from '../state/model.ts';
import type { DashboardData, ListedMessage } from '../state/rows.ts';
import { describeWindow } from '../state/windows.ts';
import { cleanText, renderFacts, splitCleanLines } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { renderHeading, renderQuote } from './lines.ts';
import { definePane } from './pane.ts';
import { getStateStyle } from './states.ts';
import { formatTimeSince } from './time.ts';

/** Newest first. */
const sortMessages = ({ messages }: DashboardData): ListedMessage[] =>
  [...messages.values()].sort((one, other) => other.id - one.id);

/** The sending session with the sender's own name or its agent. */
export const describeSender = ({
  from_session: session,
  from_agent: agent,
  from_name: name,
}: ListedMessage): string => [session, name ?? agent].filter(Boolean).join(' ') || 'svc';

export const describeRecipient = ({
  to_session: session,
  to_worker: worker,
  to_agent: agent,
}: ListedMessage): string => session ?? worker ?? (agent === null ? '-' : `any ${agent}`);

/** The first line of a message, without the marks of a Markdown heading. */
export const formatFirstLine = (body: string): string =>
  cleanText(stripMarkdown(body.trim().split(/\r?\n/)[0] ?? ''));

const isUnreadMessage = (message: ListedMessage): boolean => message.acked_at === null;

export const busPane = definePane<ListedMessage>({
  id: 'bus',
  digit: '2',
  title: 'Bus',
  dataParts: ['messages'],
  findSubject: (_, id) => ({ kind: 'message', id }),
  listRows: sortMessages,
  getRowId: (message) => String(message.id),
  findRow: (data, id) => data.messages.get(id),
  fields: {
    id: (message) => String(message.id),
    status: (message) => (isUnreadMessage(message) ? 'unread' : 'read'),
    kind: (message) => message.kind,
    from: describeSender,
    to: describeRecipient,
    task: (message) => message.task_id,
    text: (message) => message.body,
  },
  columns: [
    { head: 'id', width: 5, text: (message) => String(message.id) },
    {
      head: '',
      width: 6,
      text: (message) => (isUnreadMessage(message) ? 'unread' : ''),
      style: () => 'warn',
    },
    {
      head: 'kind',
      width: 7,
      text: (message) => message.kind,
      style: (message) => getStateStyle(message.kind),
    },
    { head: 'from', width: 11, minWidth: 40, text: describeSender },
    { head: 'to', width: 8, minWidth: 60, text: describeRecipient },
    {
      head: 'age',
      width: 4,
      align: 'right',
      text: (message, { now }) => formatTimeSince(message.created_at, now),
    },
    {
      head: 'text',
      text: (message) => formatFirstLine(message.body),
      style: (message) => (isUnreadMessage(message) ? undefined : 'dim'),
    },
  ],
  countUnfinished: ({ unread }) => unread.unread,
  /** Alerts are counted separately, so that they do not drown in notes. */
  describeTab: ({ data: { unread } }) =>
    unread.alerts === 0 ? '' : `, ${formatCount(unread.alerts, 'alert')}`,
  staysOnFirstRow: true,
  empty: [
    'No messages.',
    '',
    'Notes, handoffs and alerts between workers and the Chair are listed here. n writes one.',
    'w lists participants, L locked paths.',
  ],
  note({ data: { unread, peers, locks, messages } }) {
    const here = peers.filter((each) => each.state === 'live').length;
    const facts = [`${unread.unread} unread`, `${here} here`, formatCount(locks.length, 'lock')];
    return [...facts, describeWindow('messages', messages.size)].filter(Boolean).join(' · ');
  },
  renderPreview: (state, row, cells) => ({
    title: `message ${row.id}`,
    note: isUnreadMessage(row) ? 'unread' : `read by ${row.acked_by ?? 'someone'}`,
    lines: renderMessagePreview(state, row, cells),
  }),
});

const formatTries = (attempts: number): string => formatCount(attempts, 'try', 'tries');

/** Describes the progress of a message's notice. The message itself is always in the inbox. */
function describeNoticeDelivery({ delivery, attempts, delivered_at: at }: ListedMessage): string {
  switch (delivery) {
    case 'none':
      return 'in the inbox only';
    case 'delivered':
      return `delivered ${at === null ? '' : formatLocalTime(at)}`.trimEnd();
    case 'pending':
      return `in progress${attempts === 0 ? '' : `, ${formatTries(attempts)} so far`}`;
    case 'failed':
      return `failed after ${formatTries(attempts)}; the message is in the inbox`;
  }
}

function renderMessagePreview(state: State, row: ListedMessage, cells: number): StyledLine[] {
  const { messages } = state.data;
  const parent = row.parent_id === null ? undefined : messages.get(String(row.parent_id));
  const replies = [...messages.values()]
    .filter((each) => each.parent_id === row.id)
    .sort((one, other) => one.id - other.id);
  return [
    ...renderFacts(
      [
        ['kind', row.kind, getStateStyle(row.kind)],
        ['from', describeSender(row)],
        ['to', `${describeRecipient(row)}, ${formatLocalTime(row.created_at)}`],
        ['task', row.task_id],
        ['file', row.payload_path],
        ['notice', describeNoticeDelivery(row), row.delivery === 'failed' ? 'bad' : undefined],
        ['error', row.last_error, 'bad'],
        [
          'read',
          row.acked_at === null
            ? 'not yet'
            : `${formatLocalTime(row.acked_at)} by ${row.acked_by ?? 'someone'}`,
        ],
        [
          'reply to',
          row.parent_id === null
            ? null
            : `${row.parent_id}${parent === undefined ? '' : ` ${describeSender(parent)}: ${formatFirstLine(parent.body)}`}`,
        ],
      ],
      cells,
    ),
    ...renderQuote(splitCleanLines(row.body.trimEnd()), cells),
    ...(replies.length === 0 ? [] : [[], renderHeading(formatCount(replies.length, 'reply', 'replies'))]),
    ...replies.map(
      (each): StyledLine => [
        span(`${each.id} `, 'key'),
        span(`${describeSender(each)}: `, 'dim'),
        span(formatFirstLine(each.body)),
      ],
    ),
  ];
}

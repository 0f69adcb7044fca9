import { formatCount, formatLocalTime } from '../../engine/index.ts';
import type { Data, MessageRow, State } from '../state/model.ts';
import { windowNote } from '../state/windows.ts';
import { clean, cleanLines, factLines } from '../text.ts';
import { type Line, span } from '../theme.ts';
import { pane } from './pane.ts';
import { heading, quoted, since, stateStyle } from './words.ts';

/** Newest first. */
const inOrder = ({ messages }: Data): MessageRow[] =>
  [...messages.values()].sort((one, other) => other.message_id - one.message_id);

/** A session with the name that its sender gave itself, or the agent. */
export const senderOf = ({ from_session: session, from_agent: agent, from_name: name }: MessageRow): string =>
  [session, name ?? agent].filter(Boolean).join(' ') || 'svc';

export const recipientOf = ({
  to_session: session,
  to_worker: worker,
  to_agent: agent,
}: MessageRow): string => session ?? worker ?? (agent === null ? '-' : `any ${agent}`);

/** Without the marks of a Markdown heading. */
export const firstLine = (body: string): string =>
  clean((body.trim().split(/\r?\n/)[0] ?? '').replace(/^#+ +/, ''));

const isUnread = (message: MessageRow): boolean => message.acked_at === null;

export const busPane = pane<MessageRow>({
  id: 'bus',
  digit: '5',
  title: 'Bus',
  from: ['messages'],
  rows: inOrder,
  idOf: (message) => String(message.message_id),
  row: (data, id) => data.messages.get(id),
  fields: {
    id: (message) => String(message.message_id),
    status: (message) => (isUnread(message) ? 'new unread' : 'read'),
    kind: (message) => message.kind,
    from: senderOf,
    to: recipientOf,
    task: (message) => message.task_id,
    text: (message) => message.body,
  },
  columns: [
    { head: 'id', width: 5, text: (message) => String(message.message_id) },
    {
      head: '',
      width: 3,
      text: (message) => (isUnread(message) ? 'new' : ''),
      style: () => 'warn',
    },
    { head: 'kind', width: 7, text: (message) => message.kind, style: (message) => stateStyle(message.kind) },
    { head: 'from', width: 11, from: 40, text: senderOf },
    { head: 'to', width: 8, from: 60, text: recipientOf },
    { head: 'age', width: 4, align: 'right', text: (message, { now }) => since(message.created_at, now) },
    {
      head: 'text',
      text: (message) => firstLine(message.body),
      style: (message) => (isUnread(message) ? undefined : 'dim'),
    },
  ],
  count: ({ unread }) => unread.unread,
  /** An alert is told apart: it is not kept waiting among the notes. */
  tab: ({ data: { unread } }) => (unread.alerts === 0 ? '' : `, ${formatCount(unread.alerts, 'alert')}`),
  follows: true,
  empty: [
    'No messages.',
    '',
    'Notes, handoffs and alerts between workers and the Chair are listed here. n writes one.',
    'w shows who is here, L which paths are locked.',
  ],
  note({ data: { unread, peers, locks, messages } }) {
    const here = peers.filter((each) => each.state === 'live').length;
    const facts = [`${unread.unread} unread`, `${here} here`, formatCount(locks.length, 'lock')];
    return [...facts, windowNote('messages', messages.size)].filter(Boolean).join(' · ');
  },
  preview: (state, row, cells) => ({
    title: `message ${row.message_id}`,
    note: isUnread(row) ? 'unread' : `acknowledged by ${row.acked_by ?? 'someone'}`,
    lines: messageLines(state, row, cells),
  }),
});

const triesOf = (attempts: number): string => formatCount(attempts, 'try', 'tries');

/** How far the notice of it has come; in the inbox it is in any case. */
function deliveryOf({ delivery, attempts, delivered_at: at }: MessageRow): string {
  switch (delivery) {
    case 'none':
      return 'in the inbox only';
    case 'delivered':
      return `delivered ${at === null ? '' : formatLocalTime(at)}`.trimEnd();
    case 'pending':
      return `under way${attempts === 0 ? '' : `, ${triesOf(attempts)} so far`}`;
    case 'failed':
      return `failed after ${triesOf(attempts)}; the message is in the inbox`;
  }
}

function messageLines(state: State, row: MessageRow, cells: number): Line[] {
  const { messages } = state.data;
  const parent = row.parent_id === null ? undefined : messages.get(String(row.parent_id));
  const replies = [...messages.values()]
    .filter((each) => each.parent_id === row.message_id)
    .sort((one, other) => one.message_id - other.message_id);
  return [
    ...factLines(
      [
        ['kind', row.kind, stateStyle(row.kind)],
        ['from', senderOf(row)],
        ['to', `${recipientOf(row)}, ${formatLocalTime(row.created_at)}`],
        ['task', row.task_id],
        ['file', row.payload_path],
        ['notice', deliveryOf(row), row.delivery === 'failed' ? 'bad' : undefined],
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
            : `${row.parent_id}${parent === undefined ? '' : ` ${senderOf(parent)}: ${firstLine(parent.body)}`}`,
        ],
      ],
      cells,
    ),
    ...quoted(cleanLines(row.body.trimEnd()), cells),
    ...(replies.length === 0 ? [] : [[], heading(formatCount(replies.length, 'reply', 'replies'))]),
    ...replies.map(
      (each): Line => [
        span(`${each.message_id} `, 'key'),
        span(`${senderOf(each)}: `, 'dim'),
        span(firstLine(each.body)),
      ],
    ),
  ];
}

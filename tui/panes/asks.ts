import type { AskRow, Data, State } from '../state/model.ts';
import { clean, cleanLines, factLines, wrap } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';
import { heading, quoted } from './lines.ts';
import { type Pane, pane } from './pane.ts';
import { sessionState, stateStyle } from './states.ts';
import { left, since } from './time.ts';

/** Of those that are closed, as many as one may want to look up. */
const CLOSED = 30;

export const isOpen = (ask: AskRow): boolean => ask.status === 'open';

/** Open ones in the order they came, which nothing may move; then the closed, newest first. */
function inOrder({ asks }: Data): AskRow[] {
  const all = [...asks.values()].sort((one, other) => one.ask_id - other.ask_id);
  const closed = all.filter((each) => !isOpen(each)).reverse();
  return [...all.filter(isOpen), ...closed.slice(0, CLOSED)];
}

export const openAsks = ({ asks }: Data): AskRow[] =>
  [...asks.values()].filter(isOpen).sort((one, other) => one.ask_id - other.ask_id);

/** The worker and its agent, as far as they are known; else the session. */
export function askerOf({ from_session: id }: AskRow, { data }: Pick<State, 'data'>): string {
  if (id === null) return 'nobody here';
  const session = data.sessions.get(id);
  if (session !== undefined) return `${session.worker_id} ${session.agent}`;
  const peer = data.peers.find((each) => each.session_id === id);
  return peer?.agent ? `${id} ${peer.agent}` : id;
}

/** What became of it, in one line. */
export const outcomeOf = ({ status, answer, answered_by: by }: AskRow): string =>
  status === 'answered' ? `${by ?? 'someone'} answered: ${answer ?? ''}` : 'it ended without an answer';

export const asksPane = pane<AskRow>({
  id: 'asks',
  digit: '3',
  title: 'Asks',
  from: ['asks'],
  rows: inOrder,
  idOf: (ask) => String(ask.ask_id),
  row: (data, id) => data.asks.get(id),
  fields: {
    id: (ask) => String(ask.ask_id),
    status: (ask) => ask.status,
    from: (ask) => ask.from_session,
    to: (ask) => ask.to_session,
    task: (ask) => ask.task_id,
    question: (ask) => ask.question,
    answer: (ask) => ask.answer,
  },
  columns: [
    { head: 'id', width: 5, text: (ask) => String(ask.ask_id), style: dimWhenClosed },
    { head: 'from', width: 12, from: 44, text: askerOf, style: dimWhenClosed },
    { head: 'age', width: 4, align: 'right', text: (ask, { now }) => since(ask.created_at, now) },
    {
      head: 'left',
      width: 8,
      align: 'right',
      text: (ask, { now }) => (isOpen(ask) ? left(ask.expires_at, now) : ask.status),
      style: (ask) => stateStyle(ask.status),
    },
    {
      head: 'question',
      text: (ask) => (isOpen(ask) ? ask.question : `${ask.question} · ${outcomeOf(ask)}`),
      style: dimWhenClosed,
    },
  ],
  count: (data) => openAsks(data).length,
  /** The shortest time left. */
  tab({ data, now }) {
    const ends = openAsks(data).map((each) => each.expires_at);
    return ends.length === 0 ? '' : ` ${left(ends.sort()[0]!, now)}`;
  },
  // Who comes here wants the question that waits, not the last one that was answered.
  follows: true,
  empty: [
    'Nobody waits for an answer.',
    '',
    'A worker that cannot go on asks here, and waits until it is answered.',
  ],
  note({ data }) {
    const open = openAsks(data).length;
    return data.asks.size - open > CLOSED ? `${open} open · newest ${CLOSED} closed` : `${open} open`;
  },
  preview: (state, row, cells) => ({
    title: `ask ${row.ask_id}`,
    note: isOpen(row) ? `${left(row.expires_at, state.now)} left` : row.status,
    lines: [...askLines(state, row, cells), ...(isOpen(row) ? [[], ...optionLines(row, cells)] : [])],
  }),
} satisfies Pane<AskRow>);

function dimWhenClosed(ask: AskRow): 'dim' | undefined {
  return isOpen(ask) ? undefined : 'dim';
}

/** Who asks, about what, and whether anybody still waits for the answer. */
function askerLines(state: State, ask: AskRow): string[] {
  const { from_session: id, task_id: taskId } = ask;
  const session = id === null ? undefined : state.data.sessions.get(id);
  const task = taskId === null ? undefined : state.data.tasks.get(taskId);
  const peer = state.data.peers.find((each) => each.session_id === id);
  const isGone = session?.state === 'ended' || (session === undefined && peer?.state === 'ended');
  const waits = !isOpen(ask)
    ? ''
    : isGone
      ? ` has ended${session === undefined ? '' : ` (${sessionState(session)})`}: nobody waits any more`
      : ' is blocked on this';
  const who = session === undefined ? peer?.agent : `worker ${session.worker_id} (${session.agent})`;
  return [
    [who, id === null ? 'from no session' : `session ${id}${waits}`].filter(Boolean).join(' · '),
    ...(taskId === null ? [] : [`task ${taskId}${task === undefined ? '' : ` "${clean(task.title)}"`}`]),
    ...(ask.to_session === 'chair' ? [] : [`asked of ${clean(ask.to_session)}`]),
  ];
}

/** Everything about a question but its options. */
export function askLines(state: State, ask: AskRow, cells: number): Line[] {
  const { symbol_ref: ref } = ask;
  const place =
    ref === null ? null : `${ref.path}${ref.line === null ? '' : `:${ref.line}`} ${ref.symbol ?? ''}`.trim();
  return [
    ...askerLines(state, ask).flatMap((line) => wrap(line, cells).map((text): Line => [span(text, 'dim')])),
    ...cleanLines(ask.question.trimEnd()).flatMap((line) =>
      wrap(line, cells).map((text): Line => [span(text, 'strong')]),
    ),
    ...(ask.context === null || ask.context.trim() === ''
      ? []
      : [heading('Context'), ...quoted(cleanLines(ask.context.trimEnd()), cells)]),
    ...(isOpen(ask)
      ? []
      : [
          [],
          ...factLines(
            [
              ['status', ask.status, stateStyle(ask.status)],
              ['answer', ask.answer],
              ['place', place],
              [
                'by',
                ask.answered_at === null
                  ? null
                  : `${ask.answered_by ?? 'someone'}, ${since(ask.answered_at, state.now)}`,
              ],
              ['options', ask.options.join(' · ')],
            ],
            cells,
          ),
        ]),
  ];
}

/** The options by number; without any, that the answer is a text. */
export function optionLines({ options }: AskRow, cells: number): Line[] {
  if (options.length === 0) return [heading('Any text answers it')];
  return [
    heading('Answer (must be one of these)'),
    ...options.flatMap((option, index) =>
      wrap(clean(option), cells - 5).map(
        (text, row): Line => [
          span(row === 0 ? `${String(index + 1).padStart(3)}  ` : '     ', 'key'),
          span(text),
        ],
      ),
    ),
  ];
}

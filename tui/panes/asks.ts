import { nameSessionState } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { DashboardData, ListedAsk } from '../state/rows.ts';
import { cleanText, renderFacts, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { renderHeading, renderQuote } from './lines.ts';
import { definePane, type Pane } from './pane.ts';
import { getStateStyle } from './states.ts';
import { formatTimeLeft, formatTimeSince } from './time.ts';

/** How many closed asks are listed. */
const MOST_CLOSED = 30;

export const isOpenAsk = (ask: ListedAsk): boolean => ask.status === 'open';

/** Lists open asks in the order of arrival, so that new ones move none of them; then closed ones, newest first. */
function sortAsks({ asks }: DashboardData): ListedAsk[] {
  const all = [...asks.values()].sort((one, other) => one.id - other.id);
  const closed = all.filter((each) => !isOpenAsk(each)).reverse();
  return [...all.filter(isOpenAsk), ...closed.slice(0, MOST_CLOSED)];
}

export const listOpenAsks = ({ asks }: DashboardData): ListedAsk[] =>
  [...asks.values()].filter(isOpenAsk).sort((one, other) => one.id - other.id);

/** Describes who asks: the worker and its agent if they are known, otherwise the session. */
export function describeAsker({ from_session: id }: ListedAsk, { data }: Pick<State, 'data'>): string {
  if (id === null) return 'no session';
  const session = data.sessions.get(id);
  if (session !== undefined) return `${session.worker_id} ${session.agent}`;
  const peer = data.peers.find((each) => each.session_id === id);
  return peer?.agent ? `${id} ${peer.agent}` : id;
}

/** Describes the result of a closed ask, in one line. */
export const describeOutcome = ({ status, answer, answered_by: by }: ListedAsk): string =>
  status === 'answered' ? `${by ?? 'someone'} answered: ${answer ?? ''}` : 'it ended without an answer';

export const asksPane = definePane<ListedAsk>({
  id: 'asks',
  digit: '3',
  title: 'Asks',
  dataParts: ['asks'],
  listRows: sortAsks,
  getRowId: (ask) => String(ask.id),
  findRow: (data, id) => data.asks.get(id),
  fields: {
    id: (ask) => String(ask.id),
    status: (ask) => ask.status,
    from: (ask) => ask.from_session,
    to: (ask) => ask.to_session,
    task: (ask) => ask.task_id,
    question: (ask) => ask.question,
    answer: (ask) => ask.answer,
  },
  columns: [
    { head: 'id', width: 5, text: (ask) => String(ask.id), style: dimClosedAsk },
    { head: 'from', width: 12, minWidth: 44, text: describeAsker, style: dimClosedAsk },
    { head: 'age', width: 4, align: 'right', text: (ask, { now }) => formatTimeSince(ask.created_at, now) },
    {
      head: 'left',
      width: 8,
      align: 'right',
      text: (ask, { now }) => (isOpenAsk(ask) ? formatTimeLeft(ask.expires_at, now) : ask.status),
      style: (ask) => getStateStyle(ask.status),
    },
    {
      head: 'question',
      text: (ask) => (isOpenAsk(ask) ? ask.question : `${ask.question} · ${describeOutcome(ask)}`),
      style: dimClosedAsk,
    },
  ],
  countUnfinished: (data) => listOpenAsks(data).length,
  /** Returns the shortest time left of all open asks. */
  describeTab({ data, now }) {
    const ends = listOpenAsks(data).map((each) => each.expires_at);
    return ends.length === 0 ? '' : ` ${formatTimeLeft(ends.sort()[0]!, now)}`;
  },
  // The person looks for the pending ask, not for the last answered one.
  staysOnFirstRow: true,
  empty: ['No open questions.', '', 'A worker that cannot continue asks here, and waits for the answer.'],
  note({ data }) {
    const open = listOpenAsks(data).length;
    return data.asks.size - open > MOST_CLOSED
      ? `${open} open · newest ${MOST_CLOSED} closed`
      : `${open} open`;
  },
  renderPreview: (state, row, cells) => ({
    title: `ask ${row.id}`,
    note: isOpenAsk(row) ? `${formatTimeLeft(row.expires_at, state.now)} left` : row.status,
    lines: [
      ...renderAskLines(state, row, cells),
      ...(isOpenAsk(row) ? [[], ...renderOptionLines(row, cells)] : []),
    ],
  }),
} satisfies Pane<ListedAsk>);

function dimClosedAsk(ask: ListedAsk): 'dim' | undefined {
  return isOpenAsk(ask) ? undefined : 'dim';
}

/** Renders who asks, about which task, and whether anyone still waits for the answer. */
function describeAskContext(state: State, ask: ListedAsk): string[] {
  const { from_session: id, task_id: taskId } = ask;
  const session = id === null ? undefined : state.data.sessions.get(id);
  const task = taskId === null ? undefined : state.data.tasks.get(taskId);
  const peer = state.data.peers.find((each) => each.session_id === id);
  const isGone = session?.state === 'ended' || (session === undefined && peer?.state === 'ended');
  const waits = !isOpenAsk(ask)
    ? ''
    : isGone
      ? ` has ended${session === undefined ? '' : ` (${nameSessionState(session)})`}: no one waits any more`
      : ' is blocked on this';
  const who = session === undefined ? peer?.agent : `worker ${session.worker_id} (${session.agent})`;
  return [
    [who, id === null ? 'from no session' : `session ${id}${waits}`].filter(Boolean).join(' · '),
    ...(taskId === null ? [] : [`task ${taskId}${task === undefined ? '' : ` "${cleanText(task.title)}"`}`]),
    ...(ask.to_session === 'chair' ? [] : [`asked of ${cleanText(ask.to_session)}`]),
  ];
}

/** Renders everything about an ask except its options. */
export function renderAskLines(state: State, ask: ListedAsk, cells: number): StyledLine[] {
  const { symbol_ref: ref } = ask;
  const place =
    ref === null ? null : `${ref.path}${ref.line === null ? '' : `:${ref.line}`} ${ref.symbol ?? ''}`.trim();
  return [
    ...describeAskContext(state, ask).flatMap((line) =>
      wrapText(line, cells).map((text): StyledLine => [span(text, 'dim')]),
    ),
    ...splitCleanLines(ask.question.trimEnd()).flatMap((line) =>
      wrapText(line, cells).map((text): StyledLine => [span(text, 'strong')]),
    ),
    ...(ask.context === null || ask.context.trim() === ''
      ? []
      : [renderHeading('Context'), ...renderQuote(splitCleanLines(ask.context.trimEnd()), cells)]),
    ...(isOpenAsk(ask)
      ? []
      : [
          [],
          ...renderFacts(
            [
              ['status', ask.status, getStateStyle(ask.status)],
              ['answer', ask.answer],
              ['place', place],
              [
                'by',
                ask.answered_at === null
                  ? null
                  : `${ask.answered_by ?? 'someone'}, ${formatTimeSince(ask.answered_at, state.now)}`,
              ],
              ['options', ask.options.join(' · ')],
            ],
            cells,
          ),
        ]),
  ];
}

/** Renders the numbered options. Without any, explains that a text answers it. */
export function renderOptionLines({ options }: ListedAsk, cells: number): StyledLine[] {
  if (options.length === 0) return [renderHeading('Any text answers it')];
  return [
    renderHeading('Answer (must be one of these)'),
    ...options.flatMap((option, index) =>
      wrapText(cleanText(option), cells - 5).map(
        (text, row): StyledLine => [
          span(row === 0 ? `${String(index + 1).padStart(3)}  ` : '     ', 'key'),
          span(text),
        ],
      ),
    ),
  ];
}

import { nameSessionState } from '../../engine/index.ts';
import { hasFactsBox } from '../layout/layout.ts';
import type { State } from '../state/model.ts';
import type { DashboardData, ListedAsk } from '../state/rows.ts';
import { cleanText, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { renderHeading, renderQuote } from './lines.ts';
import type { PanePreview } from './pane.ts';
import { renderRunLines } from './run-facts.ts';
import { formatTimeLeft } from './time.ts';

export const isOpenAsk = (ask: ListedAsk): boolean => ask.status === 'open';

export const listOpenAsks = ({ asks }: DashboardData): ListedAsk[] =>
  [...asks.values()].filter(isOpenAsk).sort((one, other) => one.id - other.id);

/** Describes who asks: the worker and its agent if they are known, otherwise the session. */
export function describeAsker({ from_session: id }: ListedAsk, { data }: Pick<State, 'data'>): string {
  if (id === null) return 'no session';
  const session = data.sessions.get(id);
  if (session !== undefined) return `${session.session_id} ${session.agent}`;
  const peer = data.peers.find((each) => each.session_id === id);
  return peer?.agent ? `${id} ${peer.agent}` : id;
}

/** Describes the result of a closed ask, in one line. */
export const describeOutcome = ({ status, answer, answered_by: by }: ListedAsk): string =>
  status === 'answered' ? `${by ?? 'someone'} answered: ${answer ?? ''}` : 'it ended without an answer';

/** Renders an open question with its options; in its own box, also what its worker does. */
export function renderAskPreview(state: State, row: ListedAsk, cells: number): PanePreview {
  const session = row.from_session === null ? undefined : state.data.sessions.get(row.from_session);
  return {
    title: `ask ${row.id}`,
    note: `${formatTimeLeft(row.expires_at, state.now)} left`,
    facts: hasFactsBox(state) && session !== undefined ? renderRunLines(state, session, cells) : [],
    lines: [...renderAskLines(state, row, cells), [], ...renderOptionLines(row, cells)],
  };
}

/** Renders who asks, about which task, and whether anyone still waits for the answer. */
function describeAskContext(state: State, ask: ListedAsk): string[] {
  const { from_session: id, task_id: taskId, symbol_ref: ref } = ask;
  const place =
    ref === null ? null : `${ref.path}${ref.line === null ? '' : `:${ref.line}`} ${ref.symbol ?? ''}`.trim();
  const session = id === null ? undefined : state.data.sessions.get(id);
  const task = taskId === null ? undefined : state.data.tasks.get(taskId);
  const peer = state.data.peers.find((each) => each.session_id === id);
  const isGone = session?.state === 'ended' || (session === undefined && peer?.state === 'ended');
  const waits = isGone
    ? ` has ended${session === undefined ? '' : ` (${nameSessionState(session)})`}: no one waits any more`
    : ' is blocked on this';
  const who = session?.agent ?? peer?.agent;
  return [
    [who, id === null ? 'from no session' : `session ${id}${waits}`].filter(Boolean).join(' · '),
    ...(taskId === null ? [] : [`task ${taskId}${task === undefined ? '' : ` "${cleanText(task.title)}"`}`]),
    ...(place === null ? [] : [`at ${cleanText(place)}`]),
    ...(ask.to_session === 'chair' ? [] : [`asked of ${cleanText(ask.to_session)}`]),
  ];
}

/** Renders everything about an ask except its options. */
export function renderAskLines(state: State, ask: ListedAsk, cells: number): StyledLine[] {
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

import { detailOf, workersMode } from '../state/details.ts';
import { shownLines, unseen } from '../state/log.ts';
import type { Data, SessionRow, State } from '../state/model.ts';
import { clean } from '../text.ts';
import { type Line, span } from '../theme.ts';
import { openAsks } from './asks.ts';
import { lockedBy } from './evidence.ts';
import { type Preview, pane } from './pane.ts';
import { counted, problemLines, quiet, sessionState, since, stateStyle } from './words.ts';
import { workLines } from './work.ts';

/** Live ones in the order they came, then the ended, newest first. */
const inOrder = (data: Data): SessionRow[] => {
  const number = (session: SessionRow): number => Number(session.session_id.slice(2));
  const all = [...data.sessions.values()];
  const live = all.filter((each) => each.state !== 'ended').sort((one, other) => number(one) - number(other));
  const ended = all
    .filter((each) => each.state === 'ended')
    .sort((one, other) => number(other) - number(one));
  return [...live, ...ended];
};

const isLive = (session: SessionRow): boolean => session.state !== 'ended';

/** Work that nobody has looked at: sealed, with commits, not merged. */
export const waitsForReview = (session: SessionRow): boolean =>
  !isLive(session) && session.failure === null && (session.commits ?? 0) > 0 && session.promoted_at === null;

const changed = (session: SessionRow): string =>
  session.commits === null ? '-' : `+${session.insertions ?? 0} -${session.deletions ?? 0}`;

/** A worker that waits for an answer does nothing else. */
const stateNow = (session: SessionRow, { data }: Pick<State, 'data'>): string =>
  session.state === 'running' && openAsks(data).some((each) => each.from_session === session.session_id)
    ? 'blocked'
    : sessionState(session);

export const workersPane = pane<SessionRow>({
  id: 'workers',
  digit: '4',
  title: 'Workers',
  from: ['sessions'],
  rows: inOrder,
  idOf: (session) => session.session_id,
  row: (data, id) => data.sessions.get(id),
  fields: {
    id: (session) => `${session.session_id} ${session.worker_id}`,
    agent: (session) => session.agent,
    task: (session) => session.task_id,
    status: sessionState,
    branch: (session) => session.branch,
    project: (session) => session.project,
    title: (session) => session.title,
  },
  columns: [
    { head: 'id', width: 6, text: (session) => session.session_id },
    { head: 'agent', width: 9, from: 48, text: (session) => session.agent },
    { head: 'task', width: 6, text: (session) => session.task_id },
    {
      head: 'state',
      width: 8,
      text: stateNow,
      style: (session, state) => stateStyle(stateNow(session, state)),
    },
    { head: 'work', width: 9, from: 64, align: 'right', text: changed },
    {
      head: 'quiet',
      width: 5,
      from: 54,
      align: 'right',
      text: (session, { now }) =>
        isLive(session) ? quiet(session.log_written_at ?? session.started_at, now) : '-',
    },
    { head: 'age', width: 4, align: 'right', text: (session, { now }) => since(session.created_at, now) },
    { head: 'title', text: (session) => session.title },
  ],
  count: (data) => [...data.sessions.values()].filter(isLive).length,
  empty: [
    'No worker has run yet.',
    '',
    'An approved decision starts one in a git worktree of its own; so does r on a task.',
  ],
  note: ({ data, lists }) => {
    const review = [...data.sessions.values()].filter(waitsForReview).length;
    return `${counted(lists.workers.ids.length, 'run')}${review === 0 ? '' : `, ${review} to review`}`;
  },
  preview: (state, row, cells) =>
    workersMode(state) === 'log' ? logPreview(state, row) : workPreview(state, row, cells),
});

/** The log as it comes. */
export function logPreview(state: State, row: SessionRow): Preview {
  const { log } = state;
  const isOurs = log.session === row.session_id;
  const missed = unseen(log);
  const locked = lockedBy(state.data.locks, row.session_id)?.split(':')[0];
  const following = !isOurs
    ? ''
    : !log.following
      ? `paused${missed === 0 ? '' : `, ${missed} new lines`}`
      : log.ended
        ? 'ended'
        : 'following';
  const note = [locked, following].filter(Boolean).join(' · ');
  const lines: Line[] = isOurs ? shownLines(log).map((text) => [span(text)]) : [];
  if (isOurs && lines.length === 0)
    lines.push([span(log.ended ? 'it has printed nothing' : 'nothing printed yet', 'dim')]);
  const failure =
    row.failure === null ? [] : [[], [span(`ended: ${clean(row.failure.text)}`, 'bad')] as Line];
  return { title: `${row.session_id} log`, note, lines: [...lines, ...(isOurs && log.ended ? failure : [])] };
}

export function workPreview(state: State, row: SessionRow, cells: number): Preview {
  const loaded = detailOf(state, 'work', row.session_id);
  const isAsked = state.armed?.binding === 'promote';
  const title = isAsked ? `Promote ${row.session_id}` : `${row.session_id} work`;
  const note = sessionState(row);
  if (loaded?.problem) return { title, note, lines: problemLines({ message: loaded.problem }, cells) };
  if (!loaded?.detail) return { title, note, lines: [[span('looking at the branch …', 'dim')]] };
  const reported = detailOf(state, 'evidence', row.session_id);
  const evidence = reported?.detail ?? reported?.problem ?? null;
  const beside = { evidence, locks: state.data.locks, now: state.now };
  return { title, note, lines: workLines(loaded.detail, row, beside, cells) };
}

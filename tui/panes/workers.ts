import { formatCount, workLeftBy } from '../../engine/index.ts';
import { layoutOf, previewSize } from '../layout/layout.ts';
import { detailOf, workersMode } from '../state/details.ts';
import { shownLines, unseen } from '../state/log.ts';
import type { Data, SessionRow, State } from '../state/model.ts';
import { windowNote } from '../state/windows.ts';
import { clean } from '../text.ts';
import { type Line, span } from '../theme.ts';
import { openAsks } from './asks.ts';
import { lockedBy } from './evidence.ts';
import { type Preview, pane } from './pane.ts';
import { checklist, runLines, tokensOf } from './run.ts';
import {
  agreementLines,
  heading,
  isPaused,
  isUnread,
  mayStillRun,
  problemLines,
  quiet,
  sessionState,
  since,
  stateStyle,
  withTime,
  withWait,
} from './words.ts';
import { failureWords, workLines } from './work.ts';

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

/**
 * Work that nobody has looked at: sealed, with commits or with what could not be read, on a branch that is there and not
 * merged.
 */
export const waitsForReview = (session: SessionRow): boolean =>
  !isLive(session) &&
  session.failure === null &&
  session.branch !== null &&
  ['some', 'unreadable'].includes(workLeftBy(session)) &&
  session.promoted_at === null &&
  session.branch_state === null;

const changed = (session: SessionRow): string =>
  session.commits === null
    ? isUnread(session)
      ? '?'
      : '-'
    : `+${session.insertions ?? 0} -${session.deletions ?? 0}`;

/** A worker that waits for an answer does nothing else. */
const stateNow = (session: SessionRow, { data, now }: Pick<State, 'data' | 'now'>): string =>
  session.state === 'running' && openAsks(data).some((each) => each.from_session === session.session_id)
    ? 'blocked'
    : sessionState(session, now);

/** What it does now, or why it does not; then what it is to do. */
function doing(session: SessionRow, { now }: Pick<State, 'now'>): string {
  const { title, pause } = session;
  const present =
    session.state === 'running'
      ? session.activity
      : isPaused(session, now)
        ? (pause?.code ?? null)
        : (session.failure?.code ?? null);
  return present === null ? title : `${present} · ${title}`;
}

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
    status: (session) => sessionState(session),
    model: (session) => session.model,
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
      width: 10,
      text: (session, state) => withWait(stateNow(session, state), session.resume_at, state.now),
      style: (session, state) => stateStyle(stateNow(session, state)),
    },
    { head: 'work', width: 9, from: 100, align: 'right', text: changed },
    { head: 'tokens', width: 6, from: 60, align: 'right', isLively: true, text: tokensOf },
    {
      head: 'quiet',
      width: 5,
      from: 54,
      align: 'right',
      isLively: true,
      text: (session, { now }) =>
        session.state === 'running' ? quiet(session.log_written_at ?? session.started_at, now) : '-',
    },
    {
      head: 'age',
      width: 4,
      from: 88,
      align: 'right',
      text: (session, { now }) => since(session.created_at, now),
    },
    { head: 'doing', isLively: true, text: doing, style: (session) => (isLive(session) ? undefined : 'dim') },
  ],
  count: (data) => [...data.sessions.values()].filter(isLive).length,
  empty: [
    'No worker has run yet.',
    '',
    'An approved decision starts one in a git worktree of its own; so does r on a task.',
  ],
  note: ({ data, lists }) => {
    const review = [...data.sessions.values()].filter(waitsForReview).length;
    const runs = formatCount(lists.workers.ids.length, 'run');
    const cut = windowNote('sessions', data.sessions.size);
    return `${cut === undefined ? runs : `${cut} runs`}${review === 0 ? '' : `, ${review} to review`}`;
  },
  preview: (state, row, cells) =>
    workersMode(state) === 'log'
      ? withRun(state, row, cells, logPreview(state, row))
      : workPreview(state, row, cells),
});

/** The share of a preview that may stand above the log. */
const HEAD_SHARE = 0.6;

/** The log below what is known of its run. */
function withRun(state: State, row: SessionRow, cells: number, log: Preview): Preview {
  const room = Math.floor((previewSize(layoutOf(state))?.lines ?? 0) * HEAD_SHARE) - 1;
  if (room < 1) return log;
  const facts = runLines(state, row, cells).slice(0, room);
  const pinned = [...facts, ...checklist(row, cells, room - facts.length)];
  return pinned.length === 0 ? log : { ...log, pinned: [...pinned, [span('─'.repeat(cells), 'border')]] };
}

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
    row.failure === null ? [] : [[], [span(`ended: ${clean(failureWords(row))}`, 'bad')] as Line];
  return { title: `${row.session_id} log`, note, lines: [...lines, ...(isOurs && log.ended ? failure : [])] };
}

export function workPreview(state: State, row: SessionRow, cells: number): Preview {
  const loaded = detailOf(state, 'work', row.session_id);
  const isAsked = state.armed?.binding === 'promote';
  const title = isAsked ? `Promote ${row.session_id}` : `${row.session_id} work`;
  const note = withTime(stateNow(row, state), row.resume_at, state.now);
  const plan = checklist(row, cells);
  const run = [...runLines(state, row, cells), ...(plan.length === 0 ? [] : [heading('plan'), ...plan])];
  // Of one that has ended its work is what counts.
  const above = isLive(row) && !isAsked && run.length > 0 ? [...run, []] : [];
  const again = againLines(state, row, cells);
  if (!loaded?.detail) {
    const instead: Line[] = loaded?.problem
      ? problemLines({ message: loaded.problem }, cells)
      : [[span('looking at the branch …', 'dim')]];
    const lines = [...above, ...instead, ...again];
    return { title, note, lines, ...(again.length === 0 ? {} : { essential: { retry: lines.length } }) };
  }
  const reported = detailOf(state, 'evidence', row.session_id);
  const evidence = reported?.detail ?? reported?.problem ?? null;
  const beside = { evidence, locks: state.data.locks, now: state.now };
  const below = isLive(row) ? [] : run;
  const { lines, essential } = workLines(loaded.detail, row, { ...beside, run: below, again }, cells);
  const shifted = Object.entries(essential).map(([key, count]) => [key, above.length + count]);
  return { title, note, essential: Object.fromEntries(shifted), lines: [...above, ...lines] };
}

/** What `r` agrees to. The task itself has all of its prompt. */
function againLines(state: State, row: SessionRow, cells: number): Line[] {
  const detail = detailOf(state, 'task', row.task_id)?.detail;
  if (!detail || isLive(row) || !mayStillRun(detail.task)) return [];
  const { plan, task } = detail;
  const { lines } = agreementLines({ plan, prompt: task.prompt, hash: plan.hash }, cells);
  return [heading('running it again'), ...lines];
}

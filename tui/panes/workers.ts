import { formatCount } from '../../engine/core/base/text.ts';
import { isPausedRun, nameSessionState, workLeftBy } from '../../engine/index.ts';
import { getLayout, getPreviewSize } from '../layout/layout.ts';
import { findDetail, findDiffCursor, getWorkersMode } from '../state/details.ts';
import { countUnseenLines, getLogLines } from '../state/log.ts';
import type { State } from '../state/model.ts';
import { parseIdNumber } from '../state/numbers.ts';
import type { DashboardData, ShownSession } from '../state/rows.ts';
import { describeWindow } from '../state/windows.ts';
import { cleanText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { describeLocksOf } from './evidence.ts';
import { createImpactFact } from './impact-lines.ts';
import { renderHeading, renderProblem } from './lines.ts';
import { definePane, type PanePreview } from './pane.ts';
import { renderAgreement } from './plan.ts';
import { renderChecklist, renderRunLines } from './run-facts.ts';
import { addResumeTime, canStillRun } from './states.ts';
import { describeFailure, renderWorkLines } from './work-lines.ts';
import { describeCurrentState, describeQuietRuns, WORKER_COLUMNS } from './worker-columns.ts';

/** Lists live sessions in the order of arrival, then ended ones, newest first. */
const sortSessions = (data: DashboardData): ShownSession[] => {
  const all = [...data.sessions.values()];
  const live = all
    .filter((each) => each.state !== 'ended')
    .sort((one, other) => parseIdNumber(one.session_id) - parseIdNumber(other.session_id));
  const ended = all
    .filter((each) => each.state === 'ended')
    .sort((one, other) => parseIdNumber(other.session_id) - parseIdNumber(one.session_id));
  return [...live, ...ended];
};

const isLiveSession = (session: ShownSession): boolean => session.state !== 'ended';

/** Reports whether a finished run has unreviewed work: commits, or unreadable work, on an unmerged branch. */
export const isWaitingForReview = (session: ShownSession): boolean =>
  !isLiveSession(session) &&
  session.failure === null &&
  session.branch !== null &&
  ['some', 'unreadable'].includes(workLeftBy(session)) &&
  session.promoted_at === null &&
  session.branch_state === null;

export const workersPane = definePane<ShownSession>({
  id: 'workers',
  digit: '4',
  title: 'Workers',
  dataParts: ['sessions'],
  markedAs: 'session',
  listRows: sortSessions,
  getRowId: (session) => session.session_id,
  findRow: (data, id) => data.sessions.get(id),
  fields: {
    id: (session) => `${session.session_id} ${session.worker_id}`,
    agent: (session) => session.agent,
    task: (session) => session.task_id,
    status: (session) => nameSessionState(session),
    model: (session) => session.model,
    branch: (session) => session.branch,
    project: (session) => session.project,
    title: (session) => session.title,
  },
  columns: WORKER_COLUMNS,
  countUnfinished: (data) => [...data.sessions.values()].filter(isLiveSession).length,
  empty: [
    'No worker has run yet.',
    '',
    'An approved decision starts one in its own git worktree; so does r on a task.',
  ],
  note: (state) => {
    const { data, lists } = state;
    const review = [...data.sessions.values()].filter(isWaitingForReview).length;
    const runs = formatCount(lists.workers.ids.length, 'run');
    const cut = describeWindow('sessions', data.sessions.size);
    const all = cut === undefined ? runs : `${cut} runs`;
    return [all, review === 0 ? '' : `${review} to review`, describeQuietRuns(state)]
      .filter(Boolean)
      .join(', ');
  },
  renderPreview: (state, row, cells) =>
    getWorkersMode(state) === 'log'
      ? pinRunFacts(state, row, cells, renderLogPreview(state, row))
      : renderWorkPreview(state, row, cells),
});

/** The share of a preview that facts above the log may take. */
const HEAD_SHARE = 0.6;

/** Pins facts about the run above its log. */
function pinRunFacts(state: State, row: ShownSession, cells: number, log: PanePreview): PanePreview {
  const room = Math.floor((getPreviewSize(getLayout(state))?.lines ?? 0) * HEAD_SHARE) - 1;
  if (room < 1) return log;
  const facts = renderRunLines(state, row, cells).slice(0, room);
  const pinned = [...facts, ...renderChecklist(row, cells, room - facts.length)];
  return pinned.length === 0 ? log : { ...log, pinned: [...pinned, [span('─'.repeat(cells), 'border')]] };
}

/** The log of a worker as it grows. */
export function renderLogPreview(state: State, row: ShownSession): PanePreview {
  const { log } = state;
  const isOurs = log.session === row.session_id;
  const missed = countUnseenLines(log);
  const locked = describeLocksOf(state.data.locks, row.session_id)?.split(':')[0];
  const following = !isOurs
    ? ''
    : !log.following
      ? `paused${missed === 0 ? '' : `, ${missed} new lines`}`
      : log.ended
        ? 'ended'
        : 'following';
  const note = [locked, following].filter(Boolean).join(' · ');
  const lines: StyledLine[] = isOurs ? getLogLines(log).map((text) => [span(text)]) : [];
  if (isOurs && lines.length === 0)
    lines.push([span(log.ended ? 'it has printed nothing' : 'nothing printed yet', 'dim')]);
  const failure =
    row.failure === null
      ? []
      : [[], [span(`ended: ${cleanText(describeFailure(row))}`, 'bad')] as StyledLine];
  return { title: `${row.session_id} log`, note, lines: [...lines, ...(isOurs && log.ended ? failure : [])] };
}

export function renderWorkPreview(state: State, row: ShownSession, cells: number): PanePreview {
  const loaded = findDetail(state, 'work', row.session_id);
  const isAsked = state.armed?.binding === 'promote';
  const title = isAsked ? `Promote ${row.session_id}` : `${row.session_id} work`;
  const note = addResumeTime(describeCurrentState(row, state), row.resume_at, state.now);
  const plan = renderChecklist(row, cells);
  const run = [
    ...renderRunLines(state, row, cells),
    ...(plan.length === 0 ? [] : [renderHeading('plan'), ...plan]),
  ];
  // For an ended run the work comes first, and the facts about the run follow.
  const above = isLiveSession(row) && !isAsked && run.length > 0 ? [...run, []] : [];
  const again = renderRunAgreement(state, row, cells);
  if (!loaded?.detail) {
    const instead: StyledLine[] = loaded?.problem
      ? renderProblem({ message: loaded.problem }, cells)
      : [[span('checking the branch …', 'dim')]];
    const lines = [...above, ...instead, ...again];
    return {
      title,
      note,
      lines,
      ...(again.length === 0 ? {} : { essential: { retry: lines.length, resume: lines.length } }),
    };
  }
  const reported = findDetail(state, 'evidence', row.session_id);
  const evidence = reported?.detail ?? reported?.problem ?? null;
  const comments = findDetail(state, 'comments', row.session_id)?.detail ?? [];
  const cursor = findDiffCursor(state);
  const beside = {
    evidence,
    comments,
    cursor,
    impact: isAsked ? createImpactFact(state, row.session_id) : null,
    locks: state.data.locks,
    now: state.now,
  };
  const below = isLiveSession(row) ? [] : run;
  const { lines, essential, findPatchLine } = renderWorkLines(
    loaded.detail,
    row,
    { ...beside, run: below, again },
    cells,
  );
  const shifted = Object.entries(essential).map(([key, count]) => [key, above.length + count]);
  return {
    title,
    note,
    essential: Object.fromEntries(shifted),
    lines: [...above, ...lines],
    findPatchLine: (row) => above.length + findPatchLine(row),
  };
}

/** Renders what rerunning the task, or resuming its session, agrees to. The whole prompt is shown with the task. */
function renderRunAgreement(state: State, row: ShownSession, cells: number): StyledLine[] {
  const detail = findDetail(state, 'task', row.task_id)?.detail;
  if (!detail) return [];
  const { plan, task } = detail;
  const isPaused = isPausedRun(row, state.now);
  if (!isPaused && (isLiveSession(row) || (row.failure === null && !canStillRun(task)))) return [];
  // A paused run continues with its own settings; the plan describes a new run.
  const run = isPaused ? { ...plan, agent: row.agent, profile: row.profile ?? plan.profile } : plan;
  const { lines } = renderAgreement({ plan: run, prompt: task.prompt, hash: plan.hash }, cells);
  return [renderHeading(isPaused ? 'continuing it' : 'rerunning it'), ...lines];
}

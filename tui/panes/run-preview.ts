import { isPausedRun } from '../../engine/index.ts';
import { getLayout, getPreviewSize, hasFactsBox, hasFilesBox } from '../layout/layout.ts';
import { findDetail, findDiffCursor } from '../state/details.ts';
import { countUnseenLines, getLogLines, isSameLog } from '../state/log.ts';
import type { State } from '../state/model.ts';
import type { ShownSession } from '../state/rows.ts';
import { findShownLog, getRunText } from '../state/selection.ts';
import { isLiveSession } from '../state/work-items.ts';
import { cleanText, renderFacts } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { describeLocksOf } from './evidence.ts';
import { createImpactFact } from './impact-lines.ts';
import { renderHeading, renderProblem } from './lines.ts';
import type { PanePreview } from './pane.ts';
import { renderAgreement } from './plan.ts';
import { renderChecklist, renderRunLines } from './run-facts.ts';
import { addResumeTime, canStillRun } from './states.ts';
import { renderTaskPreview } from './task-preview.ts';
import { describeCurrentState } from './work-columns.ts';
import { describeFailure, renderWorkLines } from './work-lines.ts';

/** Renders the log of a run, its work, or its task. */
export function renderRunPreview(state: State, row: ShownSession, cells: number): PanePreview {
  const task = state.data.tasks.get(row.task_id);
  const text = getRunText(state);
  if (text === 'task' && task !== undefined) return renderTaskPreview(state, task, cells);
  return text === 'work'
    ? renderWorkPreview(state, row, cells)
    : addRunFacts(state, row, cells, renderLogPreview(state, row));
}

/** Names the task and its run. */
const nameRun = ({ task_id: task, session_id: session }: ShownSession): string => `${task} ${session}`;

/** The share of a preview that facts above the log may take. */
const HEAD_SHARE = 0.6;

/** Adds facts about the run: in their own box, or pinned above its log. */
function addRunFacts(state: State, row: ShownSession, cells: number, log: PanePreview): PanePreview {
  if (hasFactsBox(state)) {
    const plan = renderChecklist(row, cells);
    const facts = [
      ...renderFacts([['title', row.title]], cells),
      ...renderRunLines(state, row, cells),
      ...(plan.length === 0 ? [] : [renderHeading('plan'), ...plan]),
    ];
    return { ...log, facts };
  }
  const room = Math.floor((getPreviewSize(getLayout(state))?.lines ?? 0) * HEAD_SHARE) - 1;
  if (room < 1) return log;
  const facts = renderRunLines(state, row, cells).slice(0, room);
  const pinned = [...facts, ...renderChecklist(row, cells, room - facts.length)];
  return pinned.length === 0 ? log : { ...log, pinned: [...pinned, [span('─'.repeat(cells), 'border')]] };
}

/** The log of a worker as it grows. */
function renderLogPreview(state: State, row: ShownSession): PanePreview {
  const { log } = state;
  const wanted = findShownLog(state);
  const isOurs = isSameLog(log.source, wanted);
  const command = wanted?.command ?? null;
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
  const title = `${nameRun(row)} ${command === null ? 'log' : `run ${command.name}`}`;
  return { title, note, lines: [...lines, ...(isOurs && log.ended && command === null ? failure : [])] };
}

function renderWorkPreview(state: State, row: ShownSession, cells: number): PanePreview {
  const loaded = findDetail(state, 'work', row.session_id);
  const isAsked = state.armed?.binding === 'promote';
  const title = isAsked ? `Promote ${nameRun(row)}` : `${nameRun(row)} work`;
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
    const facts = [...above, ...instead, ...again];
    return {
      title,
      note,
      facts,
      lines: [],
      ...(again.length === 0 ? {} : { essential: { run: facts.length, resume: facts.length } }),
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
    hasFilesBox: hasFilesBox(state),
    now: state.now,
  };
  const below = isLiveSession(row) ? [] : run;
  const { facts, lines, essential, findPatchLine, colour } = renderWorkLines(
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
    facts: [...above, ...facts, ...(hasFactsBox(state) || lines.length === 0 ? [] : [[]])],
    lines,
    findPatchLine,
    colour,
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

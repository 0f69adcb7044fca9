import { formatClockTime, formatLocalTime, localizeTimes } from '../../engine/core/base/text.ts';
import { describeTaskSource, isPausedRun, nameEvent, nameTaskState } from '../../engine/index.ts';
import { hasFactsBox } from '../layout/layout.ts';
import { findDetail } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { RowDetails, ShownTask } from '../state/rows.ts';
import { cleanText, renderFacts, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { createEvidenceFact, describeLocksOf, renderEvidenceLines } from './evidence.ts';
import { renderHeading, renderProblem, renderQuote } from './lines.ts';
import type { PanePreview } from './pane.ts';
import { renderAgreement, renderPlanLines } from './plan.ts';
import { addResumeTime, canStillRun } from './states.ts';
import { formatTimeSince, formatWait } from './time.ts';

/** Renders the facts about a task, the plan of its run, its prompt and history. */
export function renderTaskPreview(state: State, row: ShownTask, cells: number): PanePreview {
  const loaded = findDetail(state, 'task', row.task_id);
  const detail = loaded?.detail;
  const agreement =
    detail && canStillRun(detail.task)
      ? renderAgreement({ plan: detail.plan, prompt: detail.task.prompt, hash: detail.plan.hash }, cells)
      : null;
  const above: readonly StyledLine[] = [
    ...(agreement?.lines ?? []),
    ...renderTaskFacts(state, row, cells, agreement ? (detail?.task.prompt ?? null) : null),
    ...(loaded?.problem ? renderProblem({ message: loaded.problem }, cells) : []),
  ];
  const told = detail
    ? renderTaskDetail(state, detail, cells, hasFactsBox(state) ? null : (agreement?.whole ?? null))
    : null;
  return {
    title: row.task_id,
    note:
      row.waits && row.decision_id !== null
        ? `waits for ${row.decision_id}`
        : addResumeTime(nameTaskState(row, state.now), row.resume_at, state.now),
    essential: {
      ...(agreement ? { run: agreement.lines.length } : {}),
      ...(told?.commands == null ? {} : { rerun: above.length + told.commands }),
    },
    ...(hasFactsBox(state)
      ? {
          facts: [...above, ...(told?.lines.slice(0, told.text) ?? [])],
          lines: told?.lines.slice(told.text) ?? [],
        }
      : { lines: [...above, ...(told?.lines ?? [])] }),
  };
}

/** @param shown the prompt, if agent and prompt are shown above already */
function renderTaskFacts(state: State, row: ShownTask, cells: number, shown: string | null): StyledLine[] {
  const session = row.session_id === null ? undefined : state.data.sessions.get(row.session_id);
  const isLive = session !== undefined && session.state !== 'ended';
  return [
    ...renderFacts(
      [
        // The title is usually the first line of the prompt.
        ['title', shown?.startsWith(row.title) ? null : row.title],
        ['agent', row.agent === null ? 'none yet: A assigns one' : shown === null ? row.agent : null],
        ['project', row.project],
        [
          'from',
          `${describeTaskSource(findDetail(state, 'task', row.task_id)?.detail?.task ?? row)}, ${formatTimeSince(row.created_at, state.now)}`,
        ],
        ['page', findDetail(state, 'task', row.task_id)?.detail?.task.source_url],
        ['attempt', row.attempt > 1 ? String(row.attempt) : null],
        ['after', row.after.length === 0 ? null : row.after.join(', ')],
        ['waits', row.waits_for === null || row.status === 'failed' ? null : `for ${row.waits_for}`, 'warn'],
        ['session', row.session_id],
        ['paused', describePause(row, session?.pause ?? null, state.now), 'warn'],
        ['ledger', row.ledger],
        ['branch', session?.branch],
        ['locks', row.session_id === null ? null : describeLocksOf(state.data.locks, row.session_id)],
        ['summary', row.summary],
        [
          'said',
          isLive && session.own_word !== null
            ? `its worker marked it ${session.own_word} and still runs: its end decides`
            : null,
          'warn',
        ],
      ],
      cells,
    ),
    ...(row.failure === null
      ? []
      : renderProblem(
          {
            message: `failed: ${row.failure.text}`,
            hint: isLive ? null : 'r runs it again, l shows the log',
          },
          cells,
        )),
  ];
}

/** Explains why the worker has paused, and when it resumes. */
const describePause = (
  { status, resume_at: at }: ShownTask,
  pause: { code: string; text: string } | null,
  now: number,
): string | null => {
  if (status !== 'assigned' || at === null || !isPausedRun({ resume_at: at }, now)) return null;
  const why = pause === null ? '' : `: ${pause.code}: ${localizeTimes(pause.text)}`;
  return `until ${formatClockTime(at, now)}, ${formatWait(at, now)} from now${why}`;
};

/** `commands` counts the lines down to the last reported command; null if there is none to run again. */
interface LinesWithCommands {
  lines: StyledLine[];
  commands: number | null;
}

/** Renders the acceptance criteria, and the evidence for them. */
function renderAcceptanceLines(
  state: State,
  task: RowDetails['task']['task'],
  cells: number,
): LinesWithCommands {
  const evidence =
    task.session_id === null ? null : (findDetail(state, 'evidence', task.session_id)?.detail ?? null);
  if (evidence !== null) {
    const told = renderEvidenceLines(evidence, state.now, cells, [createEvidenceFact(evidence, null)]);
    return { lines: [[], ...told.lines], commands: 1 + told.commands };
  }
  if (task.acceptance_criteria.length === 0) return { lines: [], commands: null };
  const lines: StyledLine[] = [
    [],
    renderHeading('acceptance criteria, nothing reported yet'),
    ...task.acceptance_criteria.flatMap((each) =>
      wrapText(cleanText(each), cells - 13).map(
        (text, index): StyledLine => [
          span(index === 0 ? '? unreported ' : ' '.repeat(13), 'warn'),
          span(text),
        ],
      ),
    ),
  ];
  return { lines, commands: null };
}

/**
 * `text` counts the lines above the prompt.
 * @param promptRest the lines of the prompt that are still to be shown; null if none has been shown yet
 */
function renderTaskDetail(
  state: State,
  { task, timeline, plan }: RowDetails['task'],
  cells: number,
  promptRest: readonly StyledLine[] | null,
): LinesWithCommands & { text: number } {
  const above = [
    ...renderFacts([['stranger', task.stranger, 'bad']], cells),
    ...(canStillRun(task) ? renderPlanLines(plan, state, cells) : []),
  ];
  const reached = renderAcceptanceLines(state, task, cells);
  const lines = [
    ...above,
    ...reached.lines,
    ...(promptRest ?? [
      [],
      renderHeading(`prompt  ${task.prompt.length} chars, sha ${plan.hash.slice(0, 16)}…`),
      ...renderQuote(splitCleanLines(task.prompt.trimEnd()), cells),
    ]),
    [],
    renderHeading('what happened'),
    ...[...timeline].reverse().map((event): StyledLine => {
      const reason = typeof event.data.reason === 'string' ? `: ${event.data.reason}` : '';
      const who = event.actor === null ? '' : ` by ${event.actor}`;
      return [
        span(formatLocalTime(event.at).slice(5), 'dim'),
        span(cleanText(` ${nameEvent(event.kind)}${who}${reason}`)),
      ];
    }),
  ];
  return {
    lines,
    commands: reached.commands === null ? null : above.length + reached.commands,
    text: above.length + reached.lines.length,
  };
}

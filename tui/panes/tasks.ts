import { formatLocalTime } from '../../engine/index.ts';
import { detailOf } from '../state/details.ts';
import type { Data, Details, State, TaskRow } from '../state/model.ts';
import { clean, cleanLines, factLines, wrap } from '../text.ts';
import { type Line, span } from '../theme.ts';
import { evidenceFact, evidenceLines, lockedBy } from './evidence.ts';
import { pane } from './pane.ts';
import {
  agreementLines,
  clockTime,
  heading,
  isPaused,
  mayStillRun,
  planLines,
  problemLines,
  quoted,
  since,
  stateStyle,
  taskState,
  wait,
  withTime,
  withWait,
} from './words.ts';

const isFinished = (task: TaskRow): boolean => task.status === 'done' || task.status === 'failed';
const number = (id: string): number => Number(id.slice(2));

/** What is to be done in the order it came, then what has ended, newest first. */
function inOrder(tasks: ReadonlyMap<string, TaskRow>): TaskRow[] {
  const open: TaskRow[] = [];
  const ended: { at: number; row: TaskRow }[] = [];
  for (const row of tasks.values()) {
    if (isFinished(row)) ended.push({ at: Date.parse(row.ended_at ?? row.created_at), row });
    else open.push(row);
  }
  open.sort((one, other) => number(one.task_id) - number(other.task_id));
  ended.sort((one, other) => other.at - one.at || number(other.row.task_id) - number(one.row.task_id));
  return [...open, ...ended.map((each) => each.row)];
}

const sourceOf = (task: { source: string; source_ref: string | null }): string =>
  task.source_ref === null ? task.source : `${task.source} (${task.source_ref})`;

export const tasksPane = pane<TaskRow>({
  id: 'tasks',
  digit: '1',
  title: 'Tasks',
  from: ['tasks'],
  rows: (data) => inOrder(data.tasks),
  idOf: (task) => task.task_id,
  row: (data, id) => data.tasks.get(id),
  fields: {
    id: (task) => task.task_id,
    status: (task) => `${taskState(task)} ${task.status}`,
    agent: (task) => task.agent,
    project: (task) => task.project,
    template: (task) => task.template,
    source: sourceOf,
    title: (task) => task.title,
  },
  columns: [
    { head: 'id', width: 6, text: (task) => task.task_id },
    {
      head: 'status',
      width: 10,
      text: (task, { now }) => withWait(taskState(task, now), task.resume_at, now),
      style: (task, { now }) => stateStyle(taskState(task, now)),
    },
    { head: 'agent', width: 9, from: 44, text: (task) => task.agent ?? '-' },
    { head: 'age', width: 4, align: 'right', text: (task, { now }) => since(task.created_at, now) },
    {
      head: 'title',
      text: (task) => task.title,
      style: (task) => (isFinished(task) ? 'dim' : undefined),
    },
  ],
  count: (data: Data) => [...data.tasks.values()].filter((task) => !isFinished(task)).length,
  empty: [
    'No tasks yet.',
    '',
    'They come from signed requests, from svc task add, and from n.',
    'Try: svc webhook test --route task --agent claude --prompt "say hello"',
  ],
  note: ({ data, lists }) => {
    const shown = lists.tasks.ids.length;
    const all = data.complete ? `${data.tasks.size}` : `${data.tasks.size}…`;
    return shown === data.tasks.size ? `${all} in all` : `${shown} of ${all}`;
  },
  preview(state: State, row, cells) {
    const loaded = detailOf(state, 'task', row.task_id);
    const detail = loaded?.detail;
    const agreement =
      detail && mayStillRun(detail.task)
        ? agreementLines({ plan: detail.plan, prompt: detail.task.prompt, hash: detail.plan.hash }, cells)
        : null;
    const above: readonly Line[] = [
      ...(agreement?.lines ?? []),
      ...taskFacts(state, row, cells, agreement ? (detail?.task.prompt ?? null) : null),
      ...(loaded?.problem ? problemLines({ message: loaded.problem }, cells) : []),
    ];
    const told = detail ? taskDetail(state, detail, cells, agreement?.whole ?? null) : null;
    return {
      title: row.task_id,
      note:
        row.waits && row.decision_id !== null
          ? `waits for ${row.decision_id}`
          : withTime(taskState(row, state.now), row.resume_at, state.now),
      essential: {
        ...(agreement ? { run: agreement.lines.length } : {}),
        ...(told?.commands == null ? {} : { rerun: above.length + told.commands }),
      },
      lines: [...above, ...(told?.lines ?? [])],
    };
  },
});

/** @param shown the prompt, where agent and prompt stand above already */
function taskFacts(state: State, row: TaskRow, cells: number, shown: string | null): Line[] {
  const session = row.session_id === null ? undefined : state.data.sessions.get(row.session_id);
  const isLive = session !== undefined && session.state !== 'ended';
  return [
    ...factLines(
      [
        // Mostly the first line of the prompt.
        ['title', shown?.startsWith(row.title) ? null : row.title],
        ['agent', row.agent === null ? 'none yet: A gives it to one' : shown === null ? row.agent : null],
        ['project', row.project],
        ['from', `${sourceOf(row)}, ${since(row.created_at, state.now)}`],
        ['attempt', row.attempt > 1 ? String(row.attempt) : null],
        [
          'session',
          session === undefined ? row.session_id : `${session.session_id}, worker ${session.worker_id}`,
        ],
        ['paused', pauseOf(row, session?.pause ?? null, state.now), 'warn'],
        ['ledger', row.ledger],
        ['branch', session?.branch],
        ['locks', row.session_id === null ? null : lockedBy(state.data.locks, row.session_id)],
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
      : problemLines(
          {
            message: `failed: ${row.failure.text}`,
            hint: isLive ? null : 'r runs it again, l shows the log',
          },
          cells,
        )),
  ];
}

/** Why its worker has paused, and when it goes on. */
const pauseOf = (
  { status, resume_at: at }: TaskRow,
  pause: { code: string; text: string } | null,
  now: number,
): string | null => {
  if (status !== 'assigned' || at === null || !isPaused({ resume_at: at }, now)) return null;
  const why = pause === null ? '' : `: ${pause.code}: ${pause.text}`;
  return `until ${clockTime(at, now)}, ${wait(at, now)} from now${why}`;
};

/** `commands` is how many of the lines there are up to the last reported command; null where none can be run again. */
interface WithCommands {
  lines: Line[];
  commands: number | null;
}

/** What the worker was to reach, and what is known of that. */
function acceptanceLines(state: State, task: Details['task']['task'], cells: number): WithCommands {
  const evidence =
    task.session_id === null ? null : (detailOf(state, 'evidence', task.session_id)?.detail ?? null);
  if (evidence !== null) {
    const told = evidenceLines(evidence, state.now, cells, [evidenceFact(evidence, null)]);
    return { lines: [[], ...told.lines], commands: 1 + told.commands };
  }
  if (task.acceptance_criteria.length === 0) return { lines: [], commands: null };
  const lines: Line[] = [
    [],
    heading('acceptance criteria, nothing reported yet'),
    ...task.acceptance_criteria.flatMap((each) =>
      wrap(clean(each), cells - 13).map(
        (text, index): Line => [span(index === 0 ? '? unreported ' : ' '.repeat(13), 'warn'), span(text)],
      ),
    ),
  ];
  return { lines, commands: null };
}

/** @param promptRest what is left to show of the prompt; null where nothing of it has been shown yet */
function taskDetail(
  state: State,
  { task, timeline, plan }: Details['task'],
  cells: number,
  promptRest: readonly Line[] | null,
): WithCommands {
  const above = [
    ...factLines([['stranger', task.stranger, 'bad']], cells),
    ...(mayStillRun(task) ? planLines(plan, state, cells) : []),
  ];
  const reached = acceptanceLines(state, task, cells);
  const lines = [
    ...above,
    ...reached.lines,
    ...(promptRest ?? [
      [],
      heading(`prompt  ${task.prompt.length} chars, sha ${plan.hash.slice(0, 16)}…`),
      ...quoted(cleanLines(task.prompt.trimEnd()), cells),
    ]),
    [],
    heading('what happened'),
    ...[...timeline].reverse().map((event): Line => {
      const reason = typeof event.data.reason === 'string' ? `: ${event.data.reason}` : '';
      const who = event.actor === null ? '' : ` by ${event.actor}`;
      return [span(formatLocalTime(event.at).slice(5), 'dim'), span(clean(` ${event.kind}${who}${reason}`))];
    }),
  ];
  return { lines, commands: reached.commands === null ? null : above.length + reached.commands };
}

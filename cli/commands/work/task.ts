import { resolve } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import {
  formatAge,
  formatCount,
  formatLocalTime,
  formatZonedTime,
  toPrintable,
} from '../../../engine/core/base/text.ts';
import {
  type ApiInput,
  describeTaskSource,
  type EngineClient,
  findScheduleName,
  formatSitePath,
  type ListedTask,
  type LoggedEvent,
  nameEvent,
  nameSessionState,
  nameTaskState,
  type Race,
  type WireValue,
} from '../../../engine/index.ts';
import { formatPrompt, promptFlag, readPrompt } from '../../arguments/prompt.ts';
import {
  type Command,
  type CommandContext,
  type CompletionProposal,
  defineCommand,
  type FlagTable,
  repeatArgument,
  toKebabCase,
} from '../../command.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';
import { findStateStyle, type PaintFunction } from '../../paint.ts';
import { formatFacts } from '../../print.ts';
import {
  type DecisionView,
  findProjectOf,
  readRunInput,
  reportDispatch,
  runFlags,
  runTask,
  type SessionView,
  type ShownTask,
  sayWhatBecame,
} from '../../sessions/dispatching.ts';
import { logFlags, showLog } from '../../sessions/follow-log.ts';
import {
  describeNextStep,
  describeTaskWait,
  describeUnread,
  describeWait,
  formatFailure,
  formatPriority,
} from '../../sessions/session-text.ts';
import { archiveCommands } from './task-archive.ts';
import { raceCommands } from './task-race.ts';

const addFlags = {
  agent: { type: 'string', short: 'a', about: 'agent preset' },
  prompt: promptFlag,
  template: { type: 'string', short: 't', about: 'entry of webhook.templates' },
  project: { type: 'string', about: 'project id' },
  accept: {
    type: 'string',
    short: 'c',
    multiple: true,
    value: 'criterion',
    about: 'acceptance criterion; the worker reports on each',
  },
  context: { type: 'string', about: 'background for the agent' },
  ledger: {
    type: 'string',
    value: 'file',
    about: 'checklist whose section Clarify has to be settled before a run',
  },
  priority: {
    type: 'string',
    about: 'place in the queue; higher runs first (normal)',
    choices: ['low', 'normal', 'high'],
  },
  after: {
    type: 'string',
    multiple: true,
    value: 'task',
    about: 'start it only once this task is done and its work is merged',
  },
  every: {
    type: 'string',
    value: 'cron',
    about: 'create it at each of these times, to be approved each time: svc schedule list',
  },
  tz: { type: 'string', value: 'zone', about: 'time zone of --every, by name; default: of this machine' },
  run: { type: 'boolean', short: 'r', about: 'dispatch it immediately' },
  ...runFlags,
} as const satisfies FlagTable;

/** Creates a schedule; each of its tasks is a new one, without an approval and without a predecessor. */
async function addSchedule(
  context: CommandContext<typeof addFlags>,
  client: EngineClient,
  wanted: ApiInput<'schedule.add'>[0],
): Promise<number> {
  const { flags } = context;
  const { timeout: _, ...ofRun } = runFlags;
  const excluded = (['after', 'run', ...Object.keys(ofRun)] as (keyof typeof flags)[]).filter((name) => {
    const value = flags[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  });
  if (excluded.length > 0)
    throw new SvcError(
      'usage',
      `--every excludes ${excluded.map((name) => `--${toKebabCase(name)}`).join(', ')}`,
      {
        hint: 'each task of a schedule waits for approval; svc approve starts it, and takes the options of its run',
      },
    );
  const tz = flags.tz ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const schedule = await client.call('schedule.add', { ...wanted, tz });
  context.result(
    schedule,
    ({ id, title, next_at: next }) =>
      `schedule ${id}: ${toPrintable(title)}; its first task comes ${next === null ? 'never' : formatZonedTime(next, schedule.tz)} and waits for your approval`,
  );
  return 0;
}

const add = defineCommand({
  name: 'task add',
  about: 'create a task',
  args: [{ name: 'title', about: 'title (the first line of the prompt)', optional: true }],
  flags: addFlags,
  examples: [
    'task add "Fix the flaky test" --agent claude --prompt "..." --run -f',
    'task add --agent codex --prompt - < prompt.md',
    'task add "Use the new parser" --after t-12 --run',
    "task add --every '0 6 * * 1' --template nightly",
    'task add "Rework the parser" -p - --ledger docs/parser.md --accept "the old tests pass" < prompt.md',
  ],
  async run(context) {
    const { flags, args } = context;
    const prompt = await readPrompt(flags.prompt, context.stdin);
    const client = await context.engine();
    const wanted = {
      ...(args[0] === undefined ? {} : { title: args[0] }),
      ...(prompt === undefined ? {} : { body: prompt }),
      ...(flags.agent === undefined ? {} : { agent: flags.agent }),
      ...(flags.template === undefined ? {} : { template: flags.template }),
      ...(flags.project === undefined ? {} : { project: flags.project }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
      ...(flags.accept.length === 0 ? {} : { acceptance_criteria: flags.accept }),
      ...(flags.ledger === undefined ? {} : { ledger: resolve(context.cwd, flags.ledger) }),
      ...(flags.timeout === undefined ? {} : { timeout_sec: flags.timeout }),
      ...(flags.priority === undefined ? {} : { priority: flags.priority }),
    };
    if (flags.every !== undefined) return addSchedule(context, client, { ...wanted, every: flags.every });
    if (flags.tz !== undefined) throw new SvcError('usage', '--tz needs --every');
    const order = flags.after.length === 0 ? {} : { after: flags.after };
    if (flags.run)
      return reportDispatch(
        context,
        client,
        await client.call('task.start', {
          ...wanted,
          ...order,
          ...(await readRunInput(context, client, async () => flags.project)),
        }),
      );
    const task = await client.call('task.add', { ...wanted, ...order });
    context.result(
      task,
      () =>
        `${task.task_id} ${task.status}: ${toPrintable(task.title)}${task.waits_for === null ? '' : `; it will wait for ${task.waits_for}`}`,
    );
    return 0;
  },
});

/** Lists what a person has to know before the title of a task. */
const listMarks = (task: WireValue<ListedTask>): string[] =>
  [
    task.stranger === null ? null : 'untrusted author',
    task.waits_for === null ? null : `after ${task.after.join(', ')}`,
    findScheduleName(task),
  ].filter((mark) => mark !== null);

export const taskListCommand = defineCommand({
  name: 'task list',
  about: 'list tasks, newest first',
  flags: {
    status: {
      type: 'string',
      short: 's',
      about: 'only in this state',
      choices: ['open', 'assigned', 'running', 'done', 'failed'],
    },
    archived: { type: 'boolean', about: 'only archived tasks' },
    ...definePageFlags(100),
  },
  examples: ['task list', 'task list --status running', 'task list --json --cursor start'],
  async run(context) {
    const { status, archived } = context.flags;
    const filter = { ...(status === undefined ? {} : { status }), ...(archived ? { archived } : {}) };
    const client = await context.engine();
    await showPage(context, {
      standard: 100,
      fetch: async (part) => (await client.call('task.list', { ...filter, ...part })).tasks,
      count: () => client.call('task.count', filter),
      getId: (task) => task.task_id,
      columns: [
        { head: 'id', value: (task) => task.task_id },
        {
          head: 'status',
          value: (task) => nameTaskState(task),
          style: (task) => findStateStyle(nameTaskState(task)),
        },
        { head: 'agent', value: (task) => task.agent },
        { head: 'age', value: (task) => formatAge(task.created_at), right: true },
        {
          head: 'title',
          value: (task) => [...listMarks(task).map((mark) => `(${mark})`), task.title].join(' '),
          flexible: true,
        },
      ],
      empty: archived ? 'no archived tasks' : 'no tasks; svc task add makes one',
    });
  },
});

interface Shown {
  task: ShownTask;
  decision: DecisionView | null;
  sessions: SessionView[];
  race: WireValue<Race> | null;
  timeline: WireValue<LoggedEvent>[];
  /** The number of events; the timeline has the newest. */
  timeline_total: number;
}

/** How its worker marked it, while the end of the run is still open. */
const describeOwnWord = (last: SessionView | undefined): string | null =>
  last == null || last.own_word === null
    ? null
    : `its worker marked it ${last.own_word}${last.state === 'ended' ? '' : `; ${last.session_id} still runs, and its end decides`}`;

function formatTask(
  { task, decision, sessions, race, timeline, timeline_total: total }: Shown,
  { waits, next, paint }: { waits: string | null; next: string | null; paint: PaintFunction },
): string {
  const last = sessions.at(-1);
  const work =
    last === undefined
      ? null
      : last.commits === null
        ? describeUnread(last)
        : `${formatCount(last.commits, 'commit')}, ${formatCount(last.files ?? 0, 'file')}, +${last.insertions} -${last.deletions}`;
  const decided =
    decision === null
      ? null
      : `${decision.decision_id} ${decision.state}${decision.decided_by === null ? '' : ` by ${decision.decided_by} (${decision.decided_via})`}`;
  const lines = [
    formatFacts(
      [
        ['task', `${task.task_id}: ${task.title}`],
        [
          'status',
          task.attempt > 1 ? `${nameTaskState(task)}, attempt ${task.attempt}` : nameTaskState(task),
          findStateStyle(nameTaskState(task)),
        ],
        ['waits', waits, 'warn'],
        ['after', task.after.length === 0 ? null : task.after.join(', ')],
        ['agent', task.agent],
        ['priority', formatPriority(task.priority)],
        ['project', task.project],
        ['ledger', task.ledger],
        ['archived', task.archived_at === null ? null : formatLocalTime(task.archived_at)],
        ['from', describeTaskSource(task)],
        ['page', task.source_url],
        ['stranger', task.stranger],
        ['decision', decided],
        [
          'session',
          last === undefined
            ? null
            : `${last.session_id} ${nameSessionState(last)}, worker ${last.worker_id}`,
        ],
        ['race', race === null ? null : describeRace(race, sessions)],
        ['branch', last?.branch],
        ['worktree', last === undefined ? null : formatSitePath(last.worktree, last.runner)],
        ['work', work],
        ['failure', task.failure === null ? null : formatFailure(task.failure), 'bad'],
        ['said', describeOwnWord(last)],
        ['next', next],
        ['summary', task.summary],
      ],
      paint,
    ),
    '',
    ...formatPrompt(task.prompt, paint),
    '',
    paint(
      'strong',
      timeline.length === total
        ? 'timeline'
        : `timeline (the newest ${timeline.length} of ${formatCount(total, 'event')})`,
    ),
    ...timeline.map(({ at, kind, actor, via, data }) => {
      const who = actor === null ? '' : `  ${actor}${via === null ? '' : ` (${via})`}`;
      const why = data.detail ?? data.reason;
      return `  ${paint('dim', formatLocalTime(at))}  ${nameEvent(kind)}${toPrintable(who)}${typeof why === 'string' ? `  ${toPrintable(why)}` : ''}`;
    }),
  ];
  return lines.join('\n');
}

const describeRace = (race: WireValue<Race>, sessions: readonly SessionView[]): string =>
  `${sessions
    .filter((each) => each.race === race.id)
    .map(
      (each) =>
        `${each.session_id} ${each.agent} ${each.session_id === race.winner ? 'promoted' : each.state}`,
    )
    .join(', ')}; svc task compare ${race.task_id}`;

const defineTaskArgument = <const P extends CompletionProposal>(completes: P) =>
  [{ name: 'id', about: 'task id, or a unique prefix', completes }] as const;

const show = defineCommand({
  name: 'task show',
  about: 'show a task with its prompt, sessions and timeline',
  args: defineTaskArgument('task'),
  flags: outputFlags,
  examples: ['task show t-4', 'task show t-4 --color always | less -R'],
  async run(context) {
    const client = await context.engine();
    const shown = await client.call('task.show', { id: context.arg(0) });
    const { task, sessions } = shown;
    const last = sessions.at(-1);
    const waits =
      task.status === 'assigned' && last !== undefined && last.state !== 'ended'
        ? describeWait(await client.call('session.show', { session: last.session_id }))
        : task.waits_for !== null && task.status !== 'failed'
          ? describeTaskWait(task)
          : null;
    const isOver = last?.state === 'ended' && task.session_id === last.session_id;
    const next = isOver ? await describeNextStep(last, { mayRetry: task.status === 'failed' }) : null;
    context.result(shown, (view) => formatTask(view, { waits, next, paint: context.paint }));
  },
});

const run = defineCommand({
  name: 'task run',
  about: 'dispatch a task; this also approves it',
  args: defineTaskArgument('task:idle'),
  flags: runFlags,
  examples: ['task run t-4 -f', 'task run t-4 --base release --timeout 1800'],
  async run(context) {
    return runTask(context, await context.engine(), context.arg(0));
  },
});

const retry = defineCommand({
  name: 'task retry',
  about: 'run a failed task again, its history kept',
  args: repeatArgument(defineTaskArgument('task:failed')),
  repeats: true,
  flags: { hold: { type: 'boolean', about: 'only set it back to assigned' }, ...runFlags },
  examples: ['task retry t-4', 'task retry t-4 t-7 --hold'],
  async run(context) {
    const client = await context.engine();
    const id = context.arg(0);
    const run = await readRunInput(context, client, findProjectOf(client, id));
    const input = { id, hold: context.flags.hold, ...run };
    const outcome = await sayWhatBecame(client, input.id, client.call('task.retry', input));
    return reportDispatch(context, client, outcome);
  },
});

export const cancelTaskCommand = defineCommand({
  name: 'task cancel',
  about: 'stop a task; what its worker did so far stays on its branch',
  args: repeatArgument(defineTaskArgument('task:unended')),
  repeats: true,
  examples: ['task cancel t-4', 'task cancel t-4 t-7 t-9'],
  async run(context) {
    const client = await context.engine();
    const task = await client.call('task.cancel', { id: context.arg(0) });
    context.result(task, () =>
      task.status === 'failed' ? `${task.task_id} cancelled` : `${task.task_id} is being stopped`,
    );
  },
});

const assign = defineCommand({
  name: 'task assign',
  about: 'give a task to an agent',
  args: [...defineTaskArgument('task:idle'), { name: 'agent', about: 'preset', completes: 'agent' }],
  examples: ['task assign t-4 codex'],
  async run(context) {
    const client = await context.engine();
    const task = await client.call('task.assign', { id: context.arg(0), agent: context.arg(1) });
    context.result(task, () => `${task.task_id} assigned to ${task.agent}`);
  },
});

const after = defineCommand({
  name: 'task after',
  about: 'set the tasks that have to be finished before a task starts',
  args: [
    ...defineTaskArgument('task'),
    { name: 'after', about: 'the tasks to wait for', completes: 'task', optional: true, rest: true },
  ],
  flags: { none: { type: 'boolean', about: 'wait for none; an approved task then starts' } },
  examples: ['task after t-14 t-12 t-13', 'task after t-14 --none'],
  async run(context) {
    const [, ...wanted] = context.args;
    if (context.flags.none === wanted.length > 0)
      throw new SvcError('usage', 'name the tasks to wait for, or give --none', {
        hint: 'svc task after t-14 t-12, or svc task after t-14 --none',
      });
    const client = await context.engine();
    const task = await client.call('task.after', { id: context.arg(0), after: wanted });
    context.result(task, () =>
      task.after.length === 0
        ? `${task.task_id} waits for no other task`
        : `${task.task_id} starts after ${task.after.join(', ')}`,
    );
  },
});

const done = defineCommand({
  name: 'task done',
  about: 'mark a task done, or failed',
  args: defineTaskArgument('task:unended'),
  flags: {
    failed: { type: 'boolean', about: 'it failed' },
    summary: { type: 'string', about: 'the result' },
  },
  examples: ['task done t-4', 'task done t-4 --failed --summary "the upstream bug is not fixed yet"'],
  async run(context) {
    const { failed, summary } = context.flags;
    const client = await context.engine();
    const task = await client.call('task.done', {
      id: context.arg(0),
      status: failed ? 'failed' : 'done',
      ...(summary === undefined ? {} : { summary }),
    });
    context.result(task, () => `${task.task_id} ${task.status}`);
  },
});

const log = defineCommand({
  name: 'task log',
  about: "show the log of a task's worker",
  args: defineTaskArgument('task'),
  flags: logFlags,
  examples: ['task log t-4 -f', 'task log t-4 --lines 50'],
  async run(context) {
    const client = await context.engine();
    const { task } = await client.call('task.show', { id: context.arg(0) });
    if (task.session_id === null) {
      if (task.race !== null)
        throw new SvcError('conflict', `${task.task_id} has several workers in a race`, {
          hint: `svc task compare ${task.task_id} lists them; svc log shows one`,
        });
      throw new SvcError('not_found', `${task.task_id} has no session yet`, {
        hint: `svc task run ${task.task_id}`,
      });
    }
    await showLog(context, client, task.session_id);
  },
});

export const taskCommands: readonly Command[] = [
  add,
  taskListCommand,
  show,
  run,
  cancelTaskCommand,
  retry,
  log,
  done,
  assign,
  after,
  ...raceCommands,
  ...archiveCommands,
];

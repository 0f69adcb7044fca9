import { SvcError } from '../../../engine/core/base/errors.ts';
import {
  describeUnseen,
  formatAge,
  formatCount,
  formatLocalTime,
  toPrintable,
} from '../../../engine/core/base/text.ts';
import {
  describeConsent,
  describeTaskSource,
  type EditResult,
  type EngineClient,
  listSetupFacts,
  type TaskPlan,
  type WireValue,
} from '../../../engine/index.ts';
import { formatPrompt, promptFlag, readPrompt, warnOfUnseen } from '../../arguments/prompt.ts';
import { type Command, type CommandContext, defineCommand, repeatArgument } from '../../command.ts';
import { askForLine } from '../../confirm.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';
import { findStateStyle, paintNothing } from '../../paint.ts';
import { formatFacts } from '../../print.ts';
import { type DecisionView, readRunInput, reportDispatch, runFlags } from '../../sessions/dispatching.ts';
import { describeHow } from '../../sessions/session-text.ts';

const idArg = { name: 'id', about: 'decision (d-17) or its task (t-11)' } as const;
const anyDecision = [{ ...idArg, completes: 'decision' }] as const;
/** Argument that names a pending decision. */
const pendingDecision = [{ ...idArg, completes: 'decision:pending' }] as const;

const hashFlag = {
  type: 'string',
  value: 'sha256',
  about: 'only if the hash of what will run is still this',
} as const;

const list = defineCommand({
  name: 'decision list',
  about:
    'list decisions that wait for approval, oldest first; --state all lists every decision, newest first',
  flags: {
    state: {
      type: 'string',
      short: 's',
      about: 'which decisions (pending)',
      choices: ['pending', 'approved', 'denied', 'expired', 'all'],
    },
    ...definePageFlags(100),
  },
  examples: ['decision list', 'decision list --state all'],
  async run(context) {
    const { state = 'pending' } = context.flags;
    const filter = state === 'all' ? {} : { state };
    const client = await context.engine();
    await showPage(context, {
      standard: 100,
      fetch: (part) => client.call('decision.list', { ...filter, ...part }),
      count: () => client.call('decision.count', filter),
      getId: (each) => each.decision_id,
      columns: [
        { head: 'id', value: (each) => each.decision_id, isForScripts: true },
        { head: 'task', value: (each) => each.task_id },
        { head: 'state', value: (each) => each.state, style: (each) => findStateStyle(each.state) },
        { head: 'agent', value: (each) => each.race?.join(' ') ?? each.agent },
        {
          head: 'from',
          value: (each) => `${each.stranger === null ? '' : 'stranger: '}${each.source_ref ?? each.source}`,
        },
        { head: 'age', value: (each) => formatAge(each.created_at), right: true },
        {
          head: 'title',
          value: (each) => [describeUnseen(each.unseen), each.title].filter(Boolean).join(': '),
          flexible: true,
        },
      ],
      empty: state === 'pending' ? 'nothing waits for you' : 'no decisions',
    });
  },
});

type Fact = readonly [name: string, value: string | null];

/** True if the decision may still lead to a run. */
const isOpen = ({ state, consumed_at }: DecisionView): boolean =>
  state === 'pending' || (state === 'approved' && consumed_at === null);

const describeRace = (race: readonly { agent: string }[]): string =>
  `a race of ${formatCount(race.length, 'agent')}, each in a worktree from the same commit; one is promoted`;

/** Formats what a run would do, for the person who approves it. */
function formatPlan(plan: WireValue<TaskPlan>): (readonly [name: string, value: string | null])[] {
  const { running, queued, cap } = plan.workers;
  const idle = plan.idle_timeout_sec === 0 ? '' : `, ${plan.idle_timeout_sec} s without output`;
  return [
    ['will run', plan.race === null ? plan.agent : describeRace(plan.race)],
    ...(plan.race ?? [{ agent: 'command', command: plan.command }]).map(
      ({ agent, command }) => [agent, command] as const,
    ),
    ['folder', plan.folder],
    ['how', describeHow(plan)],
    [
      'pays',
      plan.key_before_login === null
        ? null
        : `the account of ${plan.key_before_login}, not the login of ${plan.agent}`,
    ],
    [
      'worktree',
      plan.continues !== null
        ? `that of ${plan.continues.session_id}, on ${plan.continues.branch ?? 'no branch'}`
        : plan.base === null
          ? null
          : `${plan.branch_prefix}<session> from ${plan.base}${plan.base_commit === null || plan.base_commit === plan.base ? '' : `@${plan.base_commit.slice(0, 10)}`}`,
    ],
    ...(plan.carries === null
      ? []
      : ([...listSetupFacts(plan.carries), ['consent', describeConsent(plan.carries)]] as const)),
    ['timeout', `${plan.timeout_sec} s${idle}`],
    [
      'machine',
      plan.pool === null ? null : `one of the pool ${plan.pool}: its prompt and commits are sent there`,
    ],
    [
      'waits',
      plan.starts === 'now'
        ? null
        : plan.waits_for_task !== null
          ? `for ${plan.waits_for_task}`
          : (plan.waits_for ?? `${running} running, ${queued} queued, at most ${cap}`),
    ],
    [
      'problem',
      plan.problem === null
        ? null
        : `${plan.problem.message}${plan.problem.hint === null ? '' : ` (${plan.problem.hint})`}`,
    ],
  ];
}

/** Formats the former and the current value of each changed input; an approval covers the current ones. */
const formatChanges = (name: string, changes: DecisionView['changes']): Fact[] =>
  changes.flatMap(({ input, before, after }) => [
    [name, `${input}: was ${JSON.stringify(before)}`],
    ['', `${' '.repeat(input.length)}  now ${JSON.stringify(after)}`],
  ]);

const show = defineCommand({
  name: 'decision show',
  about: 'show what would run, why it needs approval, and who decided',
  args: anyDecision,
  flags: outputFlags,
  examples: ['decision show d-17'],
  async run(context) {
    const { paint } = context;
    const client = await context.engine();
    const shown = await client.call('decision.show', { id: context.arg(0) });
    context.result(shown, ({ decision, task, plan, changes }) =>
      [
        formatFacts(
          [
            ['decision', `${decision.decision_id} ${decision.state}`, findStateStyle(decision.state)],
            ['task', `${decision.task_id}: ${task.title}`],
            ['stranger', task.stranger, 'bad'],
            ...formatChanges('changed', decision.changes),
            ...formatChanges('changed since', changes),
            ...(isOpen(decision)
              ? formatPlan(plan)
              : ([
                  ['agent', decision.agent],
                  ['project', decision.project],
                ] as const)),
            ['needs approval', decision.why],
            [
              'from',
              describeTaskSource({ ...task, source: decision.source, source_ref: decision.source_ref }),
            ],
            ['page', task.source_url],
            ['asked', formatLocalTime(decision.created_at)],
            [
              'decided',
              decision.decided_at === null
                ? null
                : `${formatLocalTime(decision.decided_at)} by ${decision.decided_by} (${decision.decided_via})`,
            ],
            ['reason', decision.reason],
            ['session', decision.session_id],
            ['sha256', decision.hash],
          ],
          paint,
        ),
        '',
        ...formatPrompt(task.prompt, paint),
      ].join('\n'),
    );
  },
});

export const approveCommand = defineCommand({
  name: 'decision approve',
  about: 'approve and dispatch',
  args: repeatArgument(pendingDecision),
  repeats: true,
  flags: {
    hash: hashFlag,
    unconfined: {
      type: 'boolean',
      about:
        'run a task from an untrusted author without a sandbox where none can be set up; asks at the terminal',
    },
    ...runFlags,
  },
  examples: ['decision approve d-17', 'decision approve d-17 -f', 'decision approve d-17 d-18 d-21'],
  async run(context) {
    const { flags } = context;
    if (flags.unconfined) checkAtTerminal(context);
    const client = await context.engine();
    const typed = flags.unconfined ? await typeTask(context, client) : null;
    const findProject = async () => (await client.call('decision.show', { id: context.arg(0) })).task.project;
    const outcome = await client.call('decision.approve', {
      id: context.arg(0),
      ...(flags.hash === undefined ? {} : { hash: flags.hash }),
      ...typed,
      ...(await readRunInput(context, client, findProject)),
    });
    const warning = warnOfUnseen(`the prompt of ${outcome.task.task_id}`, outcome.task.prompt);
    if (warning !== null) context.note(`warning: ${warning}`);
    return reportDispatch(context, client, outcome);
  },
});

/** Checks that a person is at a terminal, since no script may type in their place. Throws `approval_required`. */
function checkAtTerminal({
  args,
  json,
  stdin,
  stdout,
}: Pick<CommandContext, 'args' | 'json' | 'stdin' | 'stdout'>): void {
  if (stdin.isTTY && stdout.isTTY && !json) return;
  throw new SvcError(
    'approval_required',
    'a task from an untrusted author can only be let out of the sandbox at a terminal',
    {
      hint: `svc decision show ${args[0]} shows what it would run; svc decision deny ${args[0]}`,
    },
  );
}

/** Asks the person to type the id of a task from an untrusted author that would run unconfined. */
async function typeTask(
  context: Pick<CommandContext, 'arg' | 'stdin' | 'stderr' | 'signal'>,
  client: EngineClient,
): Promise<{ unconfined: string; hash: string }> {
  const { stderr } = context;
  const { decision, task } = await client.call('decision.show', { id: context.arg(0) });
  stderr.write(
    [
      `${task.task_id} comes from an untrusted author: ${task.stranger ?? 'no'}. Nothing would confine it: it could do everything you can.`,
      ...formatPrompt(task.prompt, paintNothing),
      '',
    ].join('\n'),
  );
  const typed = await askForLine(context, `Type ${task.task_id} to run it anyway: `);
  if (typed !== task.task_id) throw new SvcError('cancelled', `${decision.decision_id} still waits`);
  return { unconfined: typed, hash: decision.hash };
}

const deny = defineCommand({
  name: 'decision deny',
  about: 'deny, with a reason',
  args: [...pendingDecision, { name: 'reason', about: 'the reason; stored with the decision', rest: true }],
  examples: ['decision deny d-17 the prompt names the wrong branch'],
  async run(context) {
    const [id, reason] = [context.arg(0), context.args.slice(1)];
    const client = await context.engine();
    const outcome = await client.call('decision.deny', { id, reason: reason.join(' ') });
    context.result(outcome, () => `${outcome.task.task_id} is denied (${outcome.decision?.decision_id})`);
  },
});

const edit = defineCommand({
  name: 'decision edit',
  about: 'change the prompt; a new decision replaces this one',
  args: pendingDecision,
  flags: {
    prompt: { ...promptFlag, about: `${promptFlag.about}; without it $VISUAL or $EDITOR opens` },
    hash: hashFlag,
  },
  examples: ['decision edit d-17', 'decision edit d-17 --prompt - < prompt.md'],
  async run(context) {
    const { flags, stdin, stdout } = context;
    const given = await readPrompt(flags.prompt, stdin);
    if (given === undefined && !(stdin.isTTY && stdout.isTTY)) {
      throw new SvcError('usage', 'no terminal is available to edit on, and no --prompt', {
        hint: 'svc decision edit --prompt - reads the new prompt from standard input',
      });
    }
    const client = await context.engine();
    const wanted = { id: context.arg(0), ...(flags.hash === undefined ? {} : { hash: flags.hash }) };
    const edited =
      given === undefined
        ? await editOnTerminal(context, client, wanted)
        : await client.call('decision.edit', { ...wanted, prompt: given });
    context.result(edited, ({ task, decision, changed }) =>
      changed
        ? `${decision.decision_id} waits for ${task.task_id}: ${toPrintable(task.title)}`
        : `${decision.decision_id}: prompt unchanged`,
    );
  },
});

async function editOnTerminal(
  { env, stdout }: Pick<CommandContext, 'env' | 'stdout'>,
  client: EngineClient,
  wanted: { id: string; hash?: string },
): Promise<WireValue<EditResult>> {
  const { decision, task } = await client.call('decision.show', { id: wanted.id });
  const { decision_id: id, hash, state } = decision;
  // The engine checks this too, but only after the text was edited.
  if (state !== 'pending') throw new SvcError('already_decided', `${id} was ${state}`);
  const { editText } = await import('../../../tui/editor.ts');
  const prompt = await editText(task.body === '' ? task.title : task.body, `${id}.md`, env);
  try {
    return await client.call('decision.edit', { hash, ...wanted, id, prompt });
  } catch (error) {
    // The file is gone; its text must not be lost.
    stdout.write(`${toPrintable(prompt, { lines: true })}\n`);
    throw error;
  }
}

export const decisionCommands: readonly Command[] = [list, show, approveCommand, deny, edit];

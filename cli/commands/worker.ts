import {
  age,
  configuration,
  findWorkspace,
  type ListedSession,
  printable,
  SvcError,
  type Wire,
} from '../../engine/index.ts';
import { type Command, command } from '../command.ts';
import { facts, table } from '../print.ts';
import { logFlags, showLog } from './follow-log.ts';
import { runInForeground } from './foreground.ts';
import { environmentOf, prepare, shellLine } from './interactive.ts';

type Row = Wire<ListedSession>;

interface Entered {
  session_id: string;
  task_id: string;
  agent: string;
  cwd: string;
  agent_session: string | null;
  is_paused: boolean;
}

const sessionArg = [
  { name: 'session', about: 'session id, or a unique prefix', completes: 'session' },
] as const;

/** In one word; a paused one is queued for a time and not for a place. */
const stateOf = ({ state, resume_at, failure }: Row): string =>
  resume_at !== null ? 'paused' : state === 'ended' ? (failure?.code ?? 'sealed') : state;

const tokensOf = ({ usage }: Row): string | null =>
  usage === null ? null : `${compact(usage.input)}+${compact(usage.output)}`;

const compact = (count: number): string =>
  count < 10_000
    ? String(count)
    : count < 10_000_000
      ? `${Math.round(count / 1000)}k`
      : `${Math.round(count / 1e6)}M`;

const doing = (row: Row): string =>
  row.resume_at !== null ? `goes on ${row.resume_at}: ${row.pause?.text ?? ''}` : (row.activity ?? row.title);

const list = command({
  name: 'worker list',
  about: 'list worker sessions: those that run or wait, and with --all the ended ones too',
  flags: {
    all: { type: 'boolean', short: 'a', about: 'the ended ones too, newest first' },
    limit: { type: 'number', short: 'n', about: 'at most this many (100)' },
  },
  async run(context) {
    const { all, limit } = context.flags;
    const client = await context.engine();
    const rows = await client.call<Row[]>('session.list', {
      ...(all ? {} : { live: true }),
      ...(limit === undefined ? {} : { limit }),
    });
    const text = await table(
      rows,
      [
        { head: 'session', value: (row) => row.session_id },
        { head: 'task', value: (row) => row.task_id },
        { head: 'agent', value: (row) => row.agent },
        { head: 'state', value: stateOf },
        { head: 'age', value: (row) => age(row.run_started_at ?? row.created_at), right: true },
        { head: 'tokens', value: tokensOf, right: true },
        { head: 'doing', value: doing, flexible: true },
      ],
      context.stdout,
    );
    context.result(rows, () => text);
    if (rows.length === 0) context.note(all ? 'no sessions yet' : 'no worker runs; svc worker list --all');
  },
});

const show = command({
  name: 'worker show',
  about: 'show a session: its run, its limits, what it spent, and what it does',
  args: sessionArg,
  async run(context) {
    const client = await context.engine();
    const row = await client.call<Row>('session.show', { session: context.args[0] });
    context.result(row, shownText);
  },
});

function shownText(row: Row): string {
  const { usage, failure } = row;
  const cost = usage?.cost_usd == null ? '' : `, $${usage.cost_usd.toFixed(4)}`;
  const plan = row.plan.map(({ text, state }) => `  ${MARKS[state]} ${printable(text)}`);
  return [
    facts([
      ['session', `${row.session_id} of ${row.task_id}: ${row.title}`],
      ['state', stateOf(row)],
      ['failure', failure === null ? null : `${failure.code}: ${failure.text}`],
      [
        'goes on',
        row.resume_at === null ? null : `${row.resume_at} (${row.pause?.code}: ${row.pause?.text})`,
      ],
      ['worker', `${row.worker_id}, agent ${row.agent}${row.model === null ? '' : `, model ${row.model}`}`],
      ['runs', row.runs > 1 ? row.runs : null],
      ['goes on with', row.continues],
      ['how', [row.transport, row.auth, row.profile].filter((each) => each !== null).join(', ')],
      ['conversation', row.agent_session],
      [
        'tokens',
        usage === null ? null : `${usage.input} in (${usage.cached} from cache), ${usage.output} out${cost}`,
      ],
      ['tool calls', row.tool_calls],
      ['does', row.activity],
      ['branch', row.branch],
      ['worktree', row.worktree],
      ['process', row.pid],
    ]),
    ...(plan.length === 0 ? [] : ['', 'plan', ...plan]),
  ].join('\n');
}

const MARKS = { pending: '[ ]', active: '[>]', done: '[x]' } as const;

const log = command({
  name: 'worker log',
  about: 'show the log of a session',
  args: sessionArg,
  flags: logFlags,
  async run(context) {
    await showLog(context, await context.engine(), context.args[0]);
  },
});

const kill = command({
  name: 'worker kill',
  about: 'stop a session; what it did so far stays on its branch',
  args: sessionArg,
  async run(context) {
    const client = await context.engine();
    const row = await client.call<Row>('worker.kill', { session: context.args[0] });
    context.result(row, () =>
      row.state === 'ended' ? `${row.session_id} cancelled` : `${row.session_id} is being stopped`,
    );
  },
});

const resume = command({
  name: 'worker resume',
  about: 'let a paused session go on now, or one that failed, in its worktree and conversation',
  args: sessionArg,
  flags: { timeout: { type: 'number', value: 'seconds', about: 'hard cap of the run' } },
  async run(context) {
    const { timeout } = context.flags;
    const client = await context.engine();
    const [session = ''] = context.args;
    const row = await client.call<Row>('worker.resume', {
      session,
      ...(timeout === undefined ? {} : { timeout_sec: timeout }),
    });
    context.result(row, () =>
      row.continues === null
        ? `${row.session_id} goes on`
        : `${row.session_id} goes on with ${row.continues}`,
    );
  },
});

const attach = command({
  name: 'worker attach',
  about: 'open the agent of a session that does not run, in its worktree and conversation',
  args: sessionArg,
  flags: { print: { type: 'boolean', about: 'only print what would be started' } },
  async run(context) {
    const { cwd, env, note } = context;
    const { agents } = (await configuration()).loadConfig({
      file: findWorkspace({ cwd, env }).file,
      env,
    }).config;
    const client = await context.engine();
    const row = await client.call<Row>('session.show', { session: context.args[0] });
    const template = agents.interactive[row.agent];
    if (template === undefined)
      throw new SvcError('unknown_agent', `there is no interactive command for ${row.agent}`, {
        hint: 'add one under agents.interactive',
      });
    const start = await prepare(row.agent, template, { cwd: row.cwd ?? cwd, env }, row.agent_session);
    // It takes part under a name of its own: neither as the Chair nor as the worker that was here.
    start.env.SVC_SESSION = `with-${row.session_id}`;
    if (context.flags.print) {
      context.result(start, shellLine);
      return 0;
    }
    const entered = await client.call<Entered>('worker.attach', {
      session: row.session_id,
      pid: process.pid,
    });
    note(
      `${entered.session_id} in ${entered.cwd}${row.agent_session === null ? '; it told no conversation to go on with' : ''}`,
    );
    try {
      return await runInForeground({
        argv: start.argv,
        cwd: entered.cwd,
        env: environmentOf(start, env),
        isTerminal: context.stdin.isTTY === true,
      });
    } finally {
      // The engine may have been restarted meanwhile; it finds out by itself that this process is gone.
      await client.call('worker.leave', { session: row.session_id }).catch(() => undefined);
      if (entered.is_paused) note(`svc worker resume ${row.session_id} lets the worker go on`);
    }
  },
});

export const workerCommands: readonly Command[] = [list, show, log, attach, resume, kill];

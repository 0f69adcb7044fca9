import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, markEstimate } from '../../../engine/core/base/text.ts';
import {
  agentPrograms,
  configuration,
  describePullRequest,
  type EngineClient,
  findLocalPath,
  findWorkspace,
} from '../../../engine/index.ts';
import { type Command, defineCommand, repeatArgument } from '../../command.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';
import { findStateStyle } from '../../paint.ts';
import { confineStart } from '../../sessions/confined.ts';
import { logFlags, showLog } from '../../sessions/follow-log.ts';
import { runInForeground } from '../../sessions/foreground.ts';
import {
  type AgentStart,
  buildEnvironment,
  formatShellLine,
  prepareStart,
  quoteWord,
  type StartWish,
} from '../../sessions/interactive.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';
import {
  describeNextStep,
  describeWait,
  formatSession,
  formatState,
  formatStateWithCode,
  loadOpenAsks,
  type OpenAsk,
  type ShownSession as Row,
} from '../../sessions/session-text.ts';
import { attachThere } from './attach-there.ts';
import { comment } from './worker-comment.ts';
import { followUp } from './worker-follow-up.ts';
import { steer } from './worker-steer.ts';

const formatTokens = ({ usage }: Row): string | null =>
  usage === null
    ? null
    : markEstimate(`${formatCount(usage.input)}+${formatCount(usage.output)}`, usage.estimated_tokens > 0);

const formatCount = (count: number): string =>
  count < 10_000
    ? String(count)
    : count < 10_000_000
      ? `${Math.round(count / 1000)}k`
      : `${Math.round(count / 1e6)}M`;

const describeActivity = (row: Row, ask: OpenAsk | undefined): string =>
  (row.state === 'queued' &&
  row.resume_at === null &&
  row.held === null &&
  row.waits_for === null &&
  row.waits_for_task === null
    ? null
    : describeWait(row, ask)) ??
  row.activity ??
  row.title;

const list = defineCommand({
  name: 'worker list',
  about: 'list worker sessions that run or wait; --all includes ended ones',
  flags: {
    all: { type: 'boolean', short: 'a', about: 'include ended sessions, newest first' },
    ...definePageFlags(100),
  },
  examples: ['worker list', 'worker list --all'],
  async run(context) {
    const { all } = context.flags;
    const filter = all ? {} : { live: true };
    const client = await context.engine();
    const asks = await loadOpenAsks(client);
    await showPage(context, {
      standard: 100,
      fetch: (part) => client.call('session.list', { ...filter, ...part }),
      count: () => client.call('session.count', filter),
      getId: (row) => row.session_id,
      columns: (rows) => [
        { head: 'session', value: (row) => row.session_id },
        { head: 'task', value: (row) => row.task_id },
        { head: 'agent', value: (row) => row.agent },
        {
          head: 'state',
          value: (row) => formatStateWithCode(row, asks.get(row.session_id)),
          style: (row) => findStateStyle(formatState(row, asks.get(row.session_id))),
        },
        { head: 'age', value: (row) => formatAge(row.run_started_at ?? row.created_at), right: true },
        { head: 'tokens', value: formatTokens, right: true },
        ...(rows.some((row) => describePullRequest(row) !== null)
          ? [{ head: 'pr', value: (row: Row) => describePullRequest(row) }]
          : []),
        { head: 'doing', value: (row) => describeActivity(row, asks.get(row.session_id)), flexible: true },
      ],
      empty: all ? 'no sessions yet' : 'no worker runs; svc worker list --all',
    });
  },
});

const show = defineCommand({
  name: 'worker show',
  about: 'show a session: its run, limits, costs, and what it does',
  args: defineSessionArgument('session'),
  flags: outputFlags,
  examples: ['worker show s-12'],
  async run(context) {
    const client = await context.engine();
    const row = await client.call('session.show', { session: context.arg(0) });
    const asks = row.state === 'running' ? await loadOpenAsks(client) : null;
    const next = row.state === 'ended' ? await findNextStep(client, row) : null;
    context.result(row, () =>
      formatSession(row, { ask: asks?.get(row.session_id), next, paint: context.paint }),
    );
  },
});

/** Describes the next step; nothing if the task has moved on after a failure. */
async function findNextStep(client: EngineClient, row: Row): Promise<string | null> {
  const { task } = await client.call('task.show', {
    id: row.task_id,
  });
  const isLast = task.session_id === row.session_id;
  if (!isLast && row.failure !== null)
    return task.session_id === null ? null : `${row.task_id} continues as ${task.session_id}`;
  return describeNextStep(row, { mayRetry: isLast && task.status === 'failed' });
}

export const workerLogCommand = defineCommand({
  name: 'worker log',
  about: 'show the log of a session',
  args: defineSessionArgument('session'),
  flags: logFlags,
  examples: ['worker log s-12 -f'],
  async run(context) {
    await showLog(context, await context.engine(), context.args[0]);
  },
});

export const workerKillCommand = defineCommand({
  name: 'worker kill',
  about: 'stop a session; what it did so far stays on its branch',
  args: repeatArgument(defineSessionArgument('session:live')),
  repeats: true,
  examples: ['worker kill s-12', 'worker kill s-12 s-14'],
  async run(context) {
    const client = await context.engine();
    const row = await client.call('worker.kill', { session: context.arg(0) });
    context.result(row, () =>
      row.state === 'ended' ? `${row.session_id} cancelled` : `${row.session_id} is being stopped`,
    );
  },
});

const resume = defineCommand({
  name: 'worker resume',
  about: 'resume a paused or failed session in its worktree and conversation',
  args: defineSessionArgument('session:stopped'),
  flags: {
    timeout: { type: 'number', value: 'seconds', about: 'time limit of the run' },
    outside: {
      type: 'boolean',
      about: 'run without its earlier sandbox, in a new conversation, if guard.profile is no longer strict',
    },
  },
  examples: ['worker resume s-12'],
  async run(context) {
    const { timeout, outside } = context.flags;
    const client = await context.engine();
    const [session = ''] = context.args;
    const row = await client.call('worker.resume', {
      session,
      ...(timeout === undefined ? {} : { timeout_sec: timeout }),
      ...(outside ? { outside } : {}),
    });
    context.result(row, () =>
      row.continues === null ? `${row.session_id} resumed` : `${row.session_id} continues ${row.continues}`,
    );
  },
});

const hasRoutedHome = async (agent: string): Promise<boolean> =>
  (await agentPrograms()).findPreset(agent)?.hasRoutedHome === true;

const createUnprintableError = ({ session_id }: Row, { isConfined }: { isConfined: boolean }): SvcError =>
  isConfined
    ? new SvcError('usage', `${session_id} ran in a sandbox, which a shell command cannot open`, {
        hint: '--print --outside prints the command that opens its agent without one',
      })
    : new SvcError('usage', `${session_id} ran through the gateway, with a secret key`, {
        hint: '--print --account prints the command that opens its agent with your own login',
      });

const attach = defineCommand({
  name: 'worker attach',
  about: 'open the agent of a session that is not running, in its worktree and conversation',
  args: defineSessionArgument('session:stopped'),
  flags: {
    print: { type: 'boolean', about: 'only print what would be started' },
    outside: {
      type: 'boolean',
      about: 'open it without its sandbox: anything the worker left there can do all that you can',
    },
    account: {
      type: 'boolean',
      about: 'use your own login, if its runs went through the gateway',
    },
  },
  examples: ['worker attach s-12', 'worker attach s-12 --print'],
  async run(context) {
    const { cwd, env, note } = context;
    const { file } = findWorkspace({ cwd, env });
    const { agents } = (await configuration()).loadConfig({ file, env }).config;
    const client = await context.engine();
    const row = await client.call('session.show', { session: context.arg(0) });
    const template = agents.interactive[row.agent];
    if (template === undefined)
      throw new SvcError('unknown_agent', `no interactive command is configured for ${row.agent}`, {
        hint: 'add one under agents.interactive',
      });
    if (row.runner !== null) {
      const { outside: isOutside, account: hasOwnLogin } = context.flags;
      return attachThere(context, client, row, {
        template,
        isOutside,
        hasOwnLogin,
        isPrinted: context.flags.print,
      });
    }
    const wasConfined = row.profile === 'strict';
    const isConfined = wasConfined && !context.flags.outside;
    const isRouted = row.auth === 'gateway' && !context.flags.account && isConfined === wasConfined;
    const isApart = row.auth === 'gateway' && !isRouted && (await hasRoutedHome(row.agent));
    // The conversation of a confined run is in the private folders of its session.
    const isSame = isConfined === wasConfined && !isApart;
    const openAgent = async (routed: Required<StartWish>['routed']): Promise<AgentStart> => {
      const start = await prepareStart(
        row.agent,
        template,
        { cwd: findLocalPath(row.cwd) ?? cwd, env },
        { agentSession: isSame ? row.agent_session : null, reachesEngine: !isConfined, routed },
      );
      // It joins under a separate name, neither as the Chair nor as the former worker.
      start.env.SVC_SESSION = `with-${row.session_id}`;
      return start;
    };
    if (context.flags.print) {
      if (isConfined || isRouted) throw createUnprintableError(row, { isConfined });
      const start = await openAgent(null);
      const folder = findLocalPath(row.cwd) ?? cwd;
      // Agents find their conversations by the folder that they ran in.
      context.result({ ...start, cwd: folder }, () => `cd ${quoteWord(folder)} && ${formatShellLine(start)}`);
      return 0;
    }
    const entered = await client.call('worker.attach', {
      session: row.session_id,
      pid: process.pid,
      ...(isRouted ? {} : { account: true }),
    });
    note(
      `${entered.session_id} in ${entered.cwd}${row.agent_session === null ? '; it reported no conversation to resume' : ''}`,
    );
    if (isConfined) note('in its sandbox, without the tools of svc');
    else if (wasConfined) note('outside its sandbox, in a new conversation');
    else if (isApart) note('with your own login, in a new conversation');
    if (isRouted) note('through the gateway, like its runs');
    try {
      const { gateway, agent_folder: folder } = entered;
      const start = await openAgent(gateway && { gateway, folder });
      const isTerminal = context.stdin.isTTY === true;
      const inside = isConfined ? await confineStart(row, start, { cwd: entered.cwd, env, file }) : null;
      return await runInForeground({
        ...(inside ?? { argv: start.argv, env: buildEnvironment(start, env) }),
        cwd: entered.cwd,
        isTerminal,
      });
    } finally {
      // The engine may have been restarted in the meantime; it notices by itself when this process has ended.
      await client.call('worker.leave', { session: row.session_id }).catch(() => undefined);
      // The agent's own resume command would find nothing outside the sandbox.
      if (isConfined) note(`svc worker attach ${row.session_id} opens it again`);
      if (entered.is_paused) note(`svc worker resume ${row.session_id} resumes the worker`);
    }
  },
});

export const workerCommands: readonly Command[] = [
  list,
  show,
  workerLogCommand,
  attach,
  resume,
  comment,
  steer,
  followUp,
  workerKillCommand,
];

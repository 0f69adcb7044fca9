import { closeSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError, EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, formatZonedTime, toPrintable } from '../../../engine/core/base/text.ts';
import { platform } from '../../../engine/core/platform/index.ts';
import {
  describeLink,
  type Engine,
  type EngineHost,
  type EngineStatus,
  findWorkspace,
  hostEngine,
  launching,
  mayNotStartError,
  openEngine,
  ownSeat,
  type WireValue,
} from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatFacts } from '../../print.ts';
import { getSvcCommand } from '../../self.ts';
import { findDifferingSecrets } from './engine-secrets.ts';
import { writeServiceUnit } from './service-unit.ts';
import { showAllStatus } from './status-all.ts';

type Status = WireValue<EngineStatus>;

const formatHostPort = ({ host, port }: { host: string; port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const formatSupervisor = ({ supervisor }: Status): string =>
  supervisor === null ? 'none: after a crash the next command starts the engine' : `pid ${supervisor}`;

function formatReceiver({ receivers, receiver_problem: problem }: Status): string {
  const off = problem === null ? 'off (svc webhook serve)' : `off: ${problem}`;
  if (receivers.length === 0) return off;
  const on = receivers.map(formatHostPort).join(', ');
  return problem === null ? on : `${on}; the listener on ui.addr is ${off}`;
}

const formatSources = ({ sources }: Status): string | null =>
  sources.length === 0
    ? null
    : sources
        .map(({ repository, problem }) =>
          toPrintable(`${repository}${problem === null ? '' : `: ${problem}`}`),
        )
        .join('; ');

const formatSchedules = ({ schedules }: Status): string | null =>
  schedules.length === 0
    ? null
    : schedules
        .map(({ id, next_at: next, tz }) => `${id} ${next === null ? 'never' : formatZonedTime(next, tz)}`)
        .join('; ');

/** Formats the secrets of the engine, which may differ from the caller's. */
function formatSecrets({ secrets }: Status): string | null {
  const lacking = secrets.filter(({ is_set }) => !is_set);
  return lacking.length === 0
    ? null
    : `not set in the engine: ${lacking.map(({ name, key }) => `${name} (${key})`).join(', ')}`;
}

export function formatStatus(status: Status): string {
  const tasks = Object.entries(status.tasks).map(([name, count]) => `${count} ${name}`);
  return formatFacts([
    [
      'engine',
      `pid ${status.pid}, version ${status.version}, up ${status.uptime_sec} s, ${Math.round(status.memory_bytes / 1024 ** 2)} MB`,
    ],
    ['workspace', `${status.workspace} (${status.root})`],
    ['supervisor', formatSupervisor(status)],
    ['receiver', formatReceiver(status)],
    ['sources', formatSources(status)],
    ['schedules', formatSchedules(status)],
    ['secrets', formatSecrets(status)],
    ['http', status.http === null ? null : formatHostPort(status.http)],
    ['tasks', tasks.join(', ')],
    [
      'waiting',
      `${formatCount(status.decisions_pending, 'decision')}, ${formatCount(status.asks_open, 'open question')}`,
    ],
    [
      'workers',
      `${status.workers.running} running, ${status.workers.queued} queued, ${status.workers.paused} paused, at most ${status.workers.cap}`,
    ],
    [
      'suspended',
      status.held_agents.length === 0 ? null : `${status.held_agents.join(', ')} (svc agents shows why)`,
    ],
    ['deliveries', `${status.deliveries.pending} pending, ${status.deliveries.dead} dead`],
    ...status.delivery_problems.map(
      ({ target, problem }) => ['not delivered', toPrintable(`${target}: ${problem}`)] as const,
    ),
    ['link', describeLink(status.link)],
    [
      'config',
      status.config_problem === null
        ? null
        : `svc.yaml has errors; the previous version stays in use: ${status.config_problem}`,
    ],
    ['waits', formatConsent(status)],
    ['restart', status.restart_needed.length === 0 ? null : `needed for ${status.restart_needed.join(', ')}`],
    ...status.warnings.map((warning) => ['warning', warning] as const),
  ]);
}

const formatConsent = ({ consent, consent_pending: keys }: Status): string | null =>
  keys.length === 0
    ? null
    : `${keys.join(', ')} of svc.yaml ${
        consent === 'none' ? 'were never agreed to, so nothing is started' : 'are not in use'
      } until svc trust`;

const setFlag = {
  set: {
    type: 'string',
    multiple: true,
    value: 'key=value',
    about: 'set a configuration key for this engine',
  },
  maxWorkers: {
    type: 'number',
    value: 'n',
    about: 'how many workers run at once (default: from cores and memory)',
  },
} as const;

/** `--set a.b=c` as configuration flags; values are YAML. */
export async function parseSetFlags(set: readonly string[]): Promise<Record<string, unknown>> {
  if (set.length === 0) return {};
  const { parse } = await import('yaml');
  return Object.fromEntries(
    set.map((each) => {
      const at = each.indexOf('=');
      if (at < 1) throw new SvcError('usage', `--set takes key=value, not ${JSON.stringify(each)}`);
      return [each.slice(0, at), parse(each.slice(at + 1))];
    }),
  );
}

function reportReady(fd: number | undefined, said: object): void {
  if (fd === undefined) return;
  try {
    writeSync(fd, JSON.stringify(said));
    closeSync(fd);
  } catch {
    // The waiting process has ended.
  }
}

/** Hosts the engine in this process until it is stopped. Calls `started` once it listens. */
export async function hostHere(
  context: CommandContext,
  options: {
    set: readonly string[];
    maxWorkers: number | undefined;
    readyFd?: number | undefined;
    stopWorkers?: boolean;
  },
  started: (engine: Engine) => Promise<void>,
): Promise<void> {
  let engine: Engine | undefined;
  let host: EngineHost | undefined;
  try {
    const { file, root } = findWorkspace(context);
    if ((await launching()).mustNotHost(context.env)) throw mayNotStartError(root);
    engine = await openEngine({
      file,
      env: context.env,
      flags: await parseSetFlags(options.set),
      svc: getSvcCommand(),
      ...(options.maxWorkers === undefined ? {} : { workerCap: Math.max(1, Math.floor(options.maxWorkers)) }),
    });
    host = await hostEngine(engine);
    await started(engine);
    reportReady(options.readyFd, { ready: true });
    const { stop } = engine;
    const end = options.stopWorkers ? () => stop({ stopWorkers: true }) : host.close;
    context.signal.addEventListener('abort', () => void end(), { once: true });
    if (context.signal.aborted) void end();
    await host.closed;
  } catch (thrown) {
    const { code, message, hint } = asSvcError(thrown);
    reportReady(options.readyFd, { code, message, ...(hint === undefined ? {} : { hint }) });
    // The host closes its engine; without a host, close the engine itself.
    await (host ?? engine)?.close().catch(() => undefined);
    throw thrown;
  }
}

const up = defineCommand({
  name: 'up',
  about: 'start the engine in the background, unless it runs',
  flags: {
    unit: {
      type: 'boolean',
      about: 'only print a unit of systemd or launchd for this user that hosts it instead',
    },
  },
  examples: ['up', 'up --unit > ~/.config/systemd/user/svc-shop.service'],
  async run(context) {
    if (context.flags.unit) {
      context.stdout.write(await writeServiceUnit(context));
      return 0;
    }
    const client = await context.engine();
    const status = await client.call('engine.status');
    context.result(status, formatStatus);
    const differing = await findDifferingSecrets(client, status, context.env);
    for (const { name, state } of differing)
      context.note(
        state === 'missing'
          ? `the engine does not have ${name}; svc down && svc up restarts it with the value of this shell`
          : `the engine has a different ${name}; svc down && svc up restarts it with the value of this shell`,
      );
    return differing.length === 0 ? 0 : EXIT.failure;
  },
});

const downFlags = {
  stopWorkers: { type: 'boolean', about: 'stop the workers too; their work so far is kept' },
  force: {
    type: 'boolean',
    about: 'kill an engine that does not answer; acknowledged changes are kept',
  },
} as const;

const down = defineCommand({
  name: 'down',
  about: 'stop the engine; workers keep running and are adopted at the next start',
  flags: downFlags,
  examples: ['down', 'down --stop-workers', 'down --force'],
  async run(context) {
    try {
      await stopEngine(context);
    } catch (error) {
      const { code } = asSvcError(error);
      const isAway = code === 'engine_unreachable' || code === 'engine_not_running';
      if (!context.flags.force || !isAway) throw error;
      (await ownSeat()).refuseInsideRun('svc down --force', context.env);
      const killed = await (await launching()).killEngine(findWorkspace(context), context.env);
      if (killed.length === 0) throw error;
      for (const pid of killed) await waitForEnd(pid);
      context.result(
        { killed, left: [] },
        () => `killed (pid ${killed.join(', ')}): it did not answer; workers continue`,
      );
    }
  },
});

async function stopEngine(context: CommandContext<typeof downFlags>): Promise<void> {
  const { stopWorkers, force } = context.flags;
  const client = await context.engine({ start: false }).catch(async (error: unknown) => {
    // The supervisor may be about to restart it.
    const hasCrashed = asSvcError(error).code === 'engine_not_running';
    if (hasCrashed && !force && (await stopSupervisor(context))) return null;
    throw error;
  });
  if (client === null) {
    context.result(
      { pid: null, left: [] },
      () => 'stopped: the engine had crashed, and is not started again',
    );
    return;
  }
  const { pid } = client.welcome;
  const { supervisor } = await client.call('engine.status');
  const { left } = await client.call('engine.stop', { stop_workers: stopWorkers });
  await client.closed;
  if (context.signal.aborted) throw new SvcError('cancelled', `the engine (pid ${pid}) is still stopping`);
  for (const each of [pid, supervisor]) if (each !== null) await waitForEnd(each);
  context.result({ pid, left }, () =>
    left.length === 0 ? `stopped (pid ${pid})` : `stopped (pid ${pid}); still working: ${left.join(', ')}`,
  );
}

async function waitForEnd(pid: number): Promise<void> {
  for (let tries = 0; tries < 200 && isAlive(pid); tries += 1) await delay(25);
}

/** Ends the supervisor of a crashed engine. False if there is none. Throws `chair_only`. */
async function stopSupervisor({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<boolean> {
  const supervisor = await (await launching()).findSupervisor(findWorkspace({ cwd, env }), env);
  if (supervisor === null) return false;
  (await ownSeat()).refuseInsideRun('svc down', env);
  (await launching()).signalSupervisor(supervisor, 'SIGTERM');
  await waitForEnd(supervisor.pid);
  return true;
}

/** Reports whether a process runs. A zombie does not; in a container, init may take a while to reap it. */
function isAlive(pid: number): boolean {
  const entry = platform.processes.read(pid);
  return entry !== 'gone' && (entry === 'unknown' || !entry.zombie);
}

const status = defineCommand({
  name: 'status',
  about: 'show what runs, what waits, and where the engine listens',
  flags: {
    all: {
      type: 'boolean',
      about: 'one line for each workspace of this machine, whether or not its engine runs',
    },
    line: {
      type: 'boolean',
      about: 'a few words for tmux or a shell prompt; nothing where no engine runs',
    },
  },
  examples: ['status', 'status --json', 'status --all', 'status --line'],
  async run(context) {
    if (context.flags.all) return showAllStatus(context);
    if (context.flags.line) return showStatusLine(context);
    const client = await context.engine({ start: false });
    context.result(await client.call('engine.status'), formatStatus);
  },
});

/** How long a prompt waits for a hanging engine. */
const LINE_PATIENCE_MS = 500;

/** Prints what waits for the person, then what runs. A prompt shows no error. */
async function showStatusLine(context: Pick<CommandContext, 'engine' | 'result'>): Promise<void> {
  const status = await context
    .engine({ start: false, patienceMs: LINE_PATIENCE_MS })
    .then((client) => client.call('engine.status', {}))
    .catch(() => null);
  if (status === null) return;
  context.result(status, formatStatusLine);
}

function formatStatusLine({ asks_open, decisions_pending, workers }: Status): string {
  const parts: [count: number, words: string][] = [
    [asks_open, asks_open === 1 ? 'question' : 'questions'],
    [decisions_pending, 'to approve'],
    [workers.running, 'running'],
    [workers.queued, 'queued'],
    [workers.paused, 'paused'],
  ];
  return parts.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`])).join(' · ') || 'idle';
}

const daemon = defineCommand({
  name: 'daemon',
  about: 'host the engine in the foreground, with its receiver when a secret is set',
  flags: {
    ...setFlag,
    stopWorkers: {
      type: 'boolean',
      about: 'a signal stops the workers too, for a container, whose processes all end with this one',
    },
    readyFd: { type: 'number', value: 'fd', about: 'file descriptor to write to when ready' },
  },
  examples: ['daemon', 'daemon --set ui.addr=127.0.0.1:9000 --max-workers 2', 'daemon --stop-workers'],
  async run(context) {
    const { set, maxWorkers, readyFd, stopWorkers } = context.flags;
    const isBackground = readyFd !== undefined;
    await hostHere(context, { set, maxWorkers, readyFd, stopWorkers }, async (engine) => {
      if (!isBackground) context.note(`engine of ${engine.root}, pid ${process.pid}`);
      const listener = await engine.openReceiver();
      if (isBackground) return;
      context.note(
        listener === null
          ? `receiver off: ${engine.receiverProblem()}`
          : `receiver on http://${formatHostPort(listener.address)}`,
      );
    });
  },
});

export const engineCommands: readonly Command[] = [up, down, status, daemon];

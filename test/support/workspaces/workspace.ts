import { type ExecFileException, execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type CatchServer,
  type CaughtEvent,
  startCatchServer,
} from '../../../cli/commands/demo/catch-server.ts';
import { SVC } from '../../../cli/self.ts';
import {
  configuration,
  connectToEngine,
  type EngineClient,
  type EngineHost,
  hostEngine,
  openEngine,
  readDaemonRecord,
  samples,
} from '../../../engine/index.ts';
import { isRunning, listMarked } from '../processes/processes.ts';
import { until } from '../wait.ts';
import { type Ran, runHere } from './command-line.ts';
import { gitEnvironment, makeRepository, type TestRepository } from './git.ts';

export { SVC } from '../../../cli/self.ts';
export { isRunning } from '../processes/processes.ts';
export type { Ran } from './command-line.ts';

export const AGENT = fileURLToPath(new URL('../../../fixtures/agent/agent.js', import.meta.url));
const DAEMON = [process.execPath, SVC, 'daemon'];
export const SECRET = 'a secret of the tests';

interface RunOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  input?: string;
}

export interface Posted {
  task_id: string;
  decision_id: string;
  dispatched: boolean;
  session_id: string | null;
}

export interface TestWorkspace {
  repository: TestRepository;
  root: string;
  env: NodeJS.ProcessEnv;
  /** All requests to the automation at the catch URL. */
  events: CaughtEvent[];
  catcher: CatchServer;
  /** Runs a command line in the workspace, within this process, if only its answer matters. */
  svc(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs it as a separate program, for tests that need a process. */
  program(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Consents to the current svc.yaml, as a person does who wrote it with svc. */
  agree(): void;
  /** Connects; starts the daemon if none runs. */
  connect(): Promise<EngineClient>;
  daemonPid(): number | null;
  /** The process that restarts the daemon after a crash. */
  supervisorPid(): number | null;
  /** Kills the daemon and its supervisor with SIGKILL, and waits until both are gone: only a client restarts it. */
  killDaemon(): Promise<void>;
  /** Kills only the daemon with SIGKILL; resolves with the pid of its successor, which the supervisor starts. */
  crashDaemon(): Promise<number>;
  /** Deletes the data folder under a running engine, repeatedly, because the engine may be writing there. */
  deleteData(): Promise<void>;
  receiver(): Promise<string>;
  /** Sends a signed `POST /task` for the scripted agent that asks for dispatch. */
  post(prompt: string): Promise<{ status: number; body: Posted }>;
  /** Returns the workspace's processes other than the daemon and its supervisor, as pid and command. */
  survivors(): { pid: number; command: string }[];
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  /** Outbound events that its target receives; all by default. */
  events?: readonly string[];
  /** More lines for svc.yaml. */
  yaml?: string;
  /** Maximum number of concurrent workers. */
  cap?: number;
  /** Changes the layout of the repository; returns the workspace folder. */
  arrange?(repository: TestRepository): string;
  env?: Record<string, string>;
  /** More agents, as command lines by name. */
  commands?: Record<string, string>;
  /**
   * True: the first command that needs an engine opens one within this process, on its real socket, much faster than
   * a separate process. Not for tests of the engine's process, and not for clients that are processes: as children of
   * the engine they are not the person's.
   */
  hosted?: boolean;
  /** User that owns the workspace, for `program` only; by default the user who runs the tests. */
  user?: { uid: number; gid: number };
}

/**
 * Creates a workspace in a real repository, with the scripted agent and an automation that receives outbound events.
 */
export async function makeWorkspace({
  yaml = '',
  env: extra = {},
  commands = {},
  user,
  events: wanted,
  hosted = false,
  arrange = ({ root }) => root,
}: WorkspaceOptions = {}): Promise<TestWorkspace> {
  const events: CaughtEvent[] = [];
  const catcher = await startCatchServer(SECRET, (event) => events.push(event));
  const repository = makeRepository({
    workspace: `workspace: { name: test }
agents:
  default_preset: scripted
  cmds: ${JSON.stringify({ scripted: `'${process.execPath}' '${AGENT}' -- {{prompt}}`, ...commands })}
notify: { webhooks: [${JSON.stringify({ url: catcher.url, ...(wanted === undefined ? {} : { events: wanted }) })}] }
ui: { addr: "127.0.0.1:0" }
${yaml.includes('webhook:') ? '' : 'webhook: { secret_env: SVC_WEBHOOK_SECRET }\n'}${yaml}`,
  });
  const { folder } = repository;
  const root = arrange(repository);
  const inherited = Object.entries(gitEnvironment()).filter(([name]) => !name.startsWith('SVC_'));
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(inherited),
    SVC_HOME: join(folder, 'home'),
    SVC_WEBHOOK_SECRET: SECRET,
    ...extra,
  };
  if (user !== undefined) {
    const home = join(folder, 'person');
    mkdirSync(home, { mode: 0o700 });
    Object.assign(env, { HOME: home, GIT_CONFIG_GLOBAL: '/dev/null' });
  }
  const data = join(root, '.svc');
  const config = await configuration();
  const agree = (): void => config.agreeToFile({ file: join(root, 'svc.yaml'), env });
  agree();
  if (user !== undefined) execFileSync('chown', ['-R', '-h', `${user.uid}:${user.gid}`, folder]);
  const clients = new Set<EngineClient>();

  let hosting: Promise<EngineHost> | undefined;
  /** Called before anything that would start an engine. */
  async function host(): Promise<void> {
    if (!hosted) return;
    hosting ??= hostHere(root, env);
    await hosting;
  }

  const program: TestWorkspace['program'] = async (args, { env: own = {}, cwd = root, input } = {}) => {
    await host();
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [SVC, ...args],
        { cwd, env: { ...env, ...own }, ...user, maxBuffer: 256 * 1024 * 1024 },
        (error: ExecFileException | null, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 128;
          resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) });
        },
      );
      // A program may end without reading its input; its exit code says what it made of that.
      child.stdin?.on('error', () => undefined).end(input ?? '');
    });
  };

  const svc: TestWorkspace['svc'] = async (args, { env: own = {}, cwd = root, input = '' } = {}) => {
    await host();
    return runHere(args, { cwd, env: { ...env, ...own }, input });
  };

  const daemonPid = (): number | null => readDaemonRecord(data)?.pid ?? null;

  const supervisorPid = (): number | null => readDaemonRecord(data)?.supervisor?.pid ?? null;

  async function killDaemon(): Promise<void> {
    if (hosted) throw new Error('the engine of this workspace is in the process of the test');
    // The supervisor first, because it would restart the daemon.
    const pids = [supervisorPid(), daemonPid()].filter((pid) => pid !== null && isRunning(pid)) as number[];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until(() => !pids.some(isRunning));
  }

  async function crashDaemon(): Promise<number> {
    if (hosted) throw new Error('the engine of this workspace is in the process of the test');
    const pid = daemonPid() ?? 0;
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid));
    return until(() => {
      const next = daemonPid();
      return next !== null && next !== pid && isRunning(next) ? next : null;
    }, 'the supervisor to start the daemon again');
  }

  const deleteData = async (): Promise<void> => {
    await until(() => {
      try {
        rmSync(data, { recursive: true, force: true });
        // Node 24 does not always report that the engine has just written a file there.
        return !existsSync(data);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
        return false;
      }
    });
  };

  /** A connection to the daemon for one task. */
  async function visit<T>(work: (client: EngineClient) => Promise<T>, daemon?: string[]): Promise<T> {
    await host();
    const client = await connectToEngine({ cwd: root, env, ...(daemon ? { daemon } : {}) });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  async function receiver(): Promise<string> {
    const { receivers } = await visit((client) => client.call('engine.status'), DAEMON);
    return `${receivers[0]?.host}:${receivers[0]?.port}`;
  }

  return {
    repository,
    root,
    env,
    events,
    catcher,
    svc,
    program,
    agree,
    async connect() {
      await host();
      const client = await connectToEngine({ cwd: root, env, daemon: DAEMON });
      clients.add(client);
      return client;
    },
    daemonPid,
    supervisorPid,
    killDaemon,
    crashDaemon,
    deleteData,
    receiver,
    async post(prompt) {
      const { buildSignedSample } = await samples();
      const { path, method, headers, body } = buildSignedSample({
        route: 'task',
        secret: SECRET,
        now: Date.now(),
        agent: 'scripted',
        prompt,
        dispatch: true,
      });
      const sent = await fetch(`http://${await receiver()}${path}`, { method, headers, body });
      if (!sent.ok) throw new Error(`the request was refused: ${await sent.text()}`);
      return { status: sent.status, body: (await sent.json()) as Posted };
    },
    survivors() {
      const own = [daemonPid(), supervisorPid()];
      return listMarked(`SVC_CONFIG=${join(root, 'svc.yaml')}`).filter(({ pid }) => !own.includes(pid));
    },
    async close() {
      for (const client of clients) client.close();
      const pid = daemonPid();
      const supervisor = supervisorPid();
      if (user !== undefined) await program(['down', '--stop-workers']);
      else if (pid !== null && isRunning(pid)) {
        // If the call fails, the wait below notices.
        await visit((client) => client.call('engine.stop', { stop_workers: true })).catch(() => undefined);
        const others = [pid, supervisor].filter((each) => each !== null && each !== process.pid) as number[];
        await until(() => !others.some(isRunning));
      }
      // Even if the call failed: an open engine would keep the tests from ending.
      await (await hosting?.catch(() => undefined))?.close();
      await catcher.close();
      const mark = `SVC_CONFIG=${join(root, 'svc.yaml')}`;
      // A supervisor ends just after its engine, also if the test itself has stopped that.
      const isSupervised = (): boolean =>
        listMarked(mark).some(({ command }) => command.includes('supervisor.js'));
      await until(() => !isSupervised(), 'the end of the supervisor', 10_000).catch(() => undefined);
      const left = listMarked(mark);
      for (const each of left) process.kill(each.pid, 'SIGKILL');
      repository.remove();
      if (left.length > 0) throw new Error(`processes outlived the workspace: ${JSON.stringify(left)}`);
    },
  };
}

/** Opens the engine in this process as `svc up` does. */
async function hostHere(root: string, env: NodeJS.ProcessEnv): Promise<EngineHost> {
  const file = join(root, 'svc.yaml');
  const engine = await openEngine({ file, env: { ...env, SVC_CONFIG: file }, svc: [process.execPath, SVC] });
  try {
    const host = await hostEngine(engine);
    await engine.openReceiver();
    return host;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

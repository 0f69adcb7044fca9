import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { quoteForShell } from '../../engine/core/base/text.ts';
import type { EngineClient } from '../../engine/index.ts';
import { findFreePort } from './free-port.ts';
import { isRunning, listMarked } from './processes/processes.ts';
import { until } from './wait.ts';
import { temporaryFolder } from './workspaces/git.ts';
import {
  makeWorkspace,
  type Ran,
  SVC,
  type TestWorkspace,
  type WorkspaceOptions,
} from './workspaces/workspace.ts';

/** Programs of this machine that the other one has too. */
const PROGRAMS = [...new Set(['/usr/local/bin', '/usr/bin', '/bin'])].join(':');

/** Another machine, played by another home folder of this one: without ssh, and with its own programs. */
export interface TestMachine {
  name: string;
  /** Its home folder. */
  home: string;
  /** The command that replaces ssh. */
  via: string;
  /** The environment of its logins. */
  variables: Record<string, string>;
  /** Adds it to the fleet, and shares the project with its pool. */
  add(...flags: string[]): Promise<Ran>;
  /** Runs svc there, as its person. */
  svc(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Installs a program there: a shell script. */
  install(program: string, script: string): void;
  /** Installs it in a new folder, which only a shell that starts from now on searches. */
  installBeside(program: string, script: string): void;
  /** Writes the rules of that machine's person. */
  rule(yaml: string): void;
  /** The folder of its runner. */
  root(): string;
  /** The process that serves the board there; null for none. */
  runnerPid(): number | null;
  /** The processes that join it to the board: the shells and `svc runner connect`. */
  transportPids(): number[];
  /** The log of a session there. */
  readLog(sessionId: string): Buffer;
  listWorktrees(): string[];
  /** Its processes other than the runner and the transport. */
  listWorkers(): { pid: number; command: string }[];
  /** Ends the runner, and checks that nothing else is left. */
  close(): Promise<void>;
}

/**
 * Creates a machine that has svc and git, and belongs to no fleet yet.
 * @param prefix words before each command of its person, e.g. those of another network
 */
export function makeMachine(
  ws: TestWorkspace,
  name = 'box2',
  { prefix = [] }: { prefix?: readonly string[] } = {},
): TestMachine {
  // The workspace removes its own folder while the runner there still works.
  const home = temporaryFolder('svc-test-machine-');
  const machineHome = join(home, 'svc');
  const bin = join(home, 'bin');
  const beside = join(home, 'beside');
  function writeProgram(folder: string, program: string, script: string): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, program), 0o755);
  }
  const install = (program: string, script: string): void => writeProgram(bin, program, script);
  const writeProfiles = (...folders: string[]): void => {
    for (const file of ['.bash_profile', '.profile'])
      writeFileSync(join(home, file), `export PATH=${quoteForShell([...folders, PROGRAMS].join(':'))}\n`);
  };
  install('svc', `exec ${[process.execPath, SVC].map(quoteForShell).join(' ')} "$@"`);
  writeProfiles(bin);
  const own: Record<string, string> = {
    ...{ HOME: home, SVC_HOME: machineHome, SHELL: '/bin/bash', LANG: 'C.UTF-8' },
    // The PATH that sshd gives, without the programs of the person's shell.
    PATH: PROGRAMS,
    ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    ...(process.env.NODE_COMPILE_CACHE === undefined
      ? {}
      : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
  // Nothing of the engine's environment, as over ssh.
  const via = `env -i ${Object.entries(own)
    .map(([key, value]) => quoteForShell(`${key}=${value}`))
    .join(' ')}`;
  const marked = (): { pid: number; command: string }[] => listMarked(`SVC_HOME=${machineHome}`);
  const isTransport = (command: string): boolean => command.includes(' runner connect ');

  function root(): string {
    const folder = join(machineHome, 'runner');
    const [fleet] = existsSync(folder) ? readdirSync(folder).filter((each) => each !== 'programs') : [];
    return join(folder, fleet ?? 'none');
  }
  function runnerPid(): number | null {
    const file = join(root(), '.svc/host.pid');
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    return pid > 0 && isRunning(pid) ? pid : null;
  }

  return {
    name,
    home,
    via,
    variables: own,
    install,
    installBeside(program, script) {
      writeProgram(beside, program, script);
      writeProfiles(bin, beside);
    },
    async add(...flags) {
      const words = ['runner', 'add', name, '--via', via, '--yes', '--share', 'workspace', ...flags];
      const added = await ws.svc([...words, '--json']);
      assert.equal(added.code, 0, added.stderr);
      return added;
    },
    svc: (...words) =>
      new Promise((resolve) => {
        const [program = '', ...rest] = [...prefix, join(bin, 'svc'), ...words];
        const child = execFile(program, rest, { env: own, cwd: home }, (_error, stdout, stderr) =>
          resolve({ code: child.exitCode ?? 1, stdout, stderr }),
        );
      }),
    rule(yaml) {
      mkdirSync(machineHome, { recursive: true });
      writeFileSync(join(machineHome, 'runner.yaml'), yaml, { mode: 0o600 });
    },
    root,
    runnerPid,
    transportPids: () =>
      marked()
        .filter(({ command }) => isTransport(command))
        .map(({ pid }) => pid),
    readLog: (sessionId) => readFileSync(join(root(), '.svc/agents', sessionId, 'log')),
    listWorktrees() {
      const folder = join(root(), '.svc/worktrees');
      return existsSync(folder) ? readdirSync(folder).filter((each) => each.startsWith('s-')) : [];
    },
    listWorkers: () =>
      marked().filter(({ command }) => !isTransport(command) && !command.includes(' runner serve ')),
    async close() {
      const pid = runnerPid();
      if (pid !== null) {
        process.kill(pid, 'SIGTERM');
        await until(() => !isRunning(pid), 'the end of the runner');
      }
      // Programs that end by themselves after the runner have some time for that.
      await until(() => marked().length === 0, 'the end of the machine', 10_000).catch(() => undefined);
      const left = marked();
      for (const each of left) process.kill(each.pid, 'SIGKILL');
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      assert.deepEqual(left, [], `processes outlived the machine ${name}`);
    },
  };
}

export interface TestFleet {
  ws: TestWorkspace;
  box: TestMachine;
  close(): Promise<void>;
}

/** Creates a workspace and one more machine, which belongs to its fleet. */
export async function makeFleet(
  options: WorkspaceOptions = {},
  { flags = [], prepare }: { flags?: readonly string[]; prepare?(box: TestMachine): void } = {},
): Promise<TestFleet> {
  const ws = await makeWorkspace({ hosted: true, ...options });
  const box = makeMachine(ws);
  async function close(): Promise<void> {
    // The engine first, since it would start the runner again.
    await ws.close();
    await box.close();
  }
  try {
    prepare?.(box);
    await box.add(...flags);
    return { ws, box, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates a workspace with a broker, and a machine that has joined its fleet. Nothing of it is reached by ssh. */
export async function makeJoinedFleet(
  options: WorkspaceOptions = {},
  { prepare }: { prepare?(box: TestMachine): void } = {},
): Promise<TestFleet> {
  const ws = await makeWorkspace(options);
  const box = makeMachine(ws);
  async function close(): Promise<void> {
    await box.close();
    await ws.close();
  }
  try {
    prepare?.(box);
    const init = ['fleet', 'init', '--host', '127.0.0.1', '--listen', `127.0.0.1:${await findFreePort()}`];
    assert.deepEqual((await ws.svc(init)).stderr, '');
    assert.equal((await ws.svc(['project', 'share', 'workspace'])).code, 0);
    const joined = await box.svc('runner', 'join', await invite(ws), '--name', 'box2');
    assert.equal(joined.code, 0, joined.stderr);
    return { ws, box, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the line of a new invitation. */
export async function invite(ws: TestWorkspace, ...flags: string[]): Promise<string> {
  const { code, json, stderr } = await ws.svc(['runner', 'invite', ...flags, '--json']);
  assert.equal(code, 0, stderr);
  return (json() as { line: string }).line;
}

interface Wanted {
  body: string;
  agent?: string;
  on?: string;
  pool?: string;
}

/** Writes a prompt that the scripted agent follows. */
export const writeScript = (...directives: string[]): string =>
  ['work', ...directives.map((each) => `#agent: ${each}`)].join('\n');

/** Adds a task and runs it. Returns the ids of the task and its session. */
export async function dispatch(
  client: EngineClient,
  { body, agent = 'scripted', ...options }: Wanted,
): Promise<{ task: string; session: string }> {
  const { task_id: task } = await client.call('task.add', { title: 'work', agent, body });
  const { session_id: session } = await client.call('task.run', { id: task, ...options });
  assert.ok(session !== null);
  return { task, session };
}

export const showSession = async (client: EngineClient, session: string) =>
  (await client.call('session.list', { ids: [session] }))[0]!;

/** Waits for the end of a session. */
export const awaitEnd = (client: EngineClient, session: string) =>
  until(
    async () => {
      const shown = await showSession(client, session);
      return shown.state === 'ended' ? shown : null;
    },
    `the end of ${session}`,
    120_000,
  );

/** Agrees on a machine to the commands whose digest an error names. */
export async function trustDigest(box: TestMachine, text: string): Promise<void> {
  const [, digest = ''] = /svc runner trust ([0-9a-f]{16})/.exec(text) ?? [];
  assert.equal((await box.svc('runner', 'trust', digest)).code, 0, text);
}

/** Agrees on a machine that has joined to the command of the scripted agent. */
export async function trustAgent(client: EngineClient, box: TestMachine): Promise<void> {
  const { session } = await dispatch(client, { body: 'x', on: box.name });
  const { failure } = await awaitEnd(client, session);
  assert.equal(failure?.code, 'trust_missing');
  await trustDigest(box, failure?.text ?? '');
}

/** Gives another machine the agreements of the first one. */
export function copyTrust(from: TestMachine, to: TestMachine): void {
  mkdirSync(join(to.home, 'svc'), { recursive: true, mode: 0o700 });
  copyFileSync(join(from.home, 'svc/runner-trusted.json'), join(to.home, 'svc/runner-trusted.json'));
}

/** Reads the log of a session as the engine has it; empty before its first part. */
export function readLogHere(ws: TestWorkspace, session: string): Buffer {
  const file = join(ws.root, '.svc/agents', session, 'log');
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
}

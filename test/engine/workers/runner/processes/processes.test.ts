import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SvcError } from '../../../../../engine/core/base/errors.ts';
import { platform } from '../../../../../engine/core/platform/index.ts';
import {
  createLinuxProcessTable,
  parseStat,
} from '../../../../../engine/core/platform/linux/process-table.ts';
import { buildWorkerEnvironment } from '../../../../../engine/workers/runner/processes/environment.ts';
import {
  ALREADY_STARTED,
  createProcesses,
  type RunningProcess,
  type RunProcesses,
  type StartSpec,
} from '../../../../../engine/workers/runner/processes/index.ts';
import { MARK } from '../../../../../engine/workers/runner/processes/marks.ts';
import { SCRIPT } from '../../../../../engine/workers/runner/processes/wrapper.ts';
import { settled, until } from '../../../../support/wait.ts';
import { temporaryFolder } from '../../../../support/workspaces/git.ts';

const AGENT = fileURLToPath(new URL('../../../../../fixtures/agent/agent.js', import.meta.url));
const ENV = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: process.env.HOME ?? '/' };

let folder: string;
let processes: RunProcesses;
/** Ends everything that a failing test leaves behind, by its mark. */
const runs: string[] = [];

before(() => {
  folder = temporaryFolder();
  processes = createProcesses({ pollMs: 10 });
});
after(async () => {
  for (const run of runs) await processes.sweep(run);
  processes.close();
  rmSync(folder, { recursive: true, force: true });
});

function specOf(argv: readonly string[], more: Partial<StartSpec> = {}): StartSpec {
  const runId = randomUUID();
  runs.push(runId);
  const runDir = join(folder, runId);
  mkdirSync(runDir, { mode: 0o700 });
  const cwd = join(runDir, 'cwd');
  mkdirSync(cwd);
  return { runDir, runId, argv, cwd, env: ENV, logFile: join(runDir, 'log'), ...more };
}
const agent = (...lines: string[]): string[] => [
  process.execPath,
  AGENT,
  '--',
  ['#agent: no-change', ...lines].join('\n'),
];
const logOf = (spec: StartSpec): string => readFileSync(spec.logFile, 'utf8');
const isRunning = (pid: number): boolean => {
  const entry = createLinuxProcessTable().read(pid);
  return typeof entry === 'object' && !entry.zombie;
};
const printed = (spec: StartSpec, text: string): Promise<unknown> =>
  until(() => existsSync(spec.logFile) && logOf(spec).includes(text), `"${text}" in the log`);
const failsWith = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;

describe('starting a worker', () => {
  test('the exit code, the output and the pid are kept in the run directory', async () => {
    const spec = specOf(agent('#agent: fail 7'));
    const run = await processes.start(spec);
    assert.deepEqual(await settled(run.exited), { code: 7, signal: null });
    assert.equal(processes.readExit(spec.runDir), 7);
    assert.equal(processes.readStarted(spec.runDir), run.pid);
    assert.match(run.pidStart, /^\d+$/);
    assert.match(logOf(spec), /agent: failing with 7/);
    assert.equal(statSync(spec.logFile).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(spec.runDir).sort(), ['cwd', 'exit', 'log', 'started']);
  });

  test('an argument reaches the agent byte for byte, untouched by a shell', async () => {
    const odd = `--x "q" 'q' $(touch ${join(folder, 'no')}) \`id\` \\ * ~ ;&|\n#agent: echo-argv\n#agent: no-change\nü`;
    const spec = specOf([process.execPath, AGENT, '--', odd]);
    assert.equal((await settled((await processes.start(spec)).exited)).code, 0);
    const line = logOf(spec)
      .split('\n')
      .find((text) => text.startsWith('["--"'));
    assert.deepEqual(JSON.parse(line ?? ''), ['--', odd]);
    assert.equal(existsSync(join(folder, 'no')), false);
  });

  test('the worker has its own session and group and gets exactly the given environment', async () => {
    const go = join(folder, randomUUID());
    const spec = specOf(agent('#agent: echo-env', `#agent: wait-for ${go}`));
    const run = await processes.start(spec);
    const entry = createLinuxProcessTable().read(run.pid);
    assert.ok(typeof entry === 'object');
    assert.equal(entry.pgid, run.pid);
    writeFileSync(go, '');
    await settled(run.exited);
    const env = JSON.parse(
      logOf(spec)
        .split('\n')
        .find((text) => text.startsWith('{')) ?? '',
    ) as Record<string, string>;
    assert.equal(env.SVC_RUN_ID, spec.runId);
    const own = Object.keys(env).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    assert.deepEqual(own.sort(), ['HOME', 'PATH', 'SVC_RUN_ID']);
  });

  test('stdin is empty by default and a file when one is named', async () => {
    const quiet = specOf(['cat']);
    assert.equal((await settled((await processes.start(quiet)).exited)).code, 0);
    assert.equal(logOf(quiet), '');
    const stdinFile = join(folder, randomUUID());
    writeFileSync(stdinFile, 'from the file\n');
    const fed = specOf(['cat'], { stdinFile });
    assert.equal((await settled((await processes.start(fed)).exited)).code, 0);
    assert.equal(logOf(fed), 'from the file\n');
  });

  test('a missing program is refused before anything is created', async () => {
    const spec = specOf(['no-such-agent-here', 'x']);
    await assert.rejects(
      processes.start(spec),
      (error) => failsWith('agent_not_found')(error) && /"no-such-agent-here"/.test((error as Error).message),
    );
    assert.deepEqual(readdirSync(spec.runDir), ['cwd']);
    const plain = join(spec.cwd, 'plain');
    writeFileSync(plain, '#!/bin/sh\n');
    await assert.rejects(processes.start({ ...spec, argv: ['./plain'] }), failsWith('agent_not_found'));
    chmodSync(plain, 0o700);
    assert.equal((await settled((await processes.start({ ...spec, argv: ['./plain'] })).exited)).code, 0);
  });

  test('a missing folder and too long arguments are spawn_failed with a clear text', async () => {
    await assert.rejects(
      processes.start(specOf(['true'], { cwd: join(folder, 'gone') })),
      failsWith('spawn_failed'),
    );
    const spec = specOf(['true', 'x'.repeat(200_000)]);
    await assert.rejects(
      processes.start(spec),
      (error) =>
        failsWith('spawn_failed')(error) && /longer than the system allows/.test((error as Error).message),
    );
    assert.equal(existsSync(join(spec.runDir, 'started')), false);
  });

  test('the worker outlives the process that started it', async () => {
    const go = join(folder, randomUUID());
    const spec = specOf(agent(`#agent: wait-for ${go}`, '#agent: fail 5'));
    const room = new URL('../../../../../engine/workers/runner/processes/index.js', import.meta.url).href;
    const host = `
      const { createProcesses } = await import(${JSON.stringify(room)});
      const run = await createProcesses().start(${JSON.stringify(spec)});
      process.stdout.write(run.pid + ' ' + run.pidStart);
    `;
    // The host exits although its child runs: the child does not keep it alive.
    const told = execFileSync(process.execPath, ['--input-type=module', '-e', host], { encoding: 'utf8' });
    const [pid = '', pidStart = ''] = told.split(' ');
    assert.equal(processes.checkLiveness(Number(pid), pidStart), 'alive');
    const { runDir, runId } = spec;
    await until(() => processes.readStarted(runDir));
    assert.deepEqual(processes.findStartedWrapper({ runDir, runId }), { pid: Number(pid), pidStart });
    const adopted = processes.adopt({ runDir, runId, pid: Number(pid), pidStart });
    writeFileSync(go, '');
    assert.deepEqual(await settled(adopted.exited), { code: 5, signal: null });
  });
});

describe('a run starts at most once', () => {
  test('exactly one of many starts of one run directory runs the agent', async () => {
    const counter = join(folder, randomUUID());
    const spec = specOf(agent(`#agent: count ${counter}`));
    // The wrappers themselves race: `start` would refuse most of them earlier.
    const words = ['-c', SCRIPT, 'svc-worker', spec.runDir, ...spec.argv];
    const wrappers = Array.from({ length: 8 }, () =>
      spawn('/bin/sh', words, { cwd: spec.cwd, stdio: 'ignore' }),
    );
    const codes = await Promise.all(
      wrappers.map((child) => new Promise<number | null>((done) => child.once('exit', done))),
    );
    assert.equal(readFileSync(counter, 'utf8').trim().split('\n').length, 1);
    assert.deepEqual(codes.sort(), [0, ...Array<number>(7).fill(ALREADY_STARTED)]);
    await assert.rejects(processes.start(spec), failsWith('already_running'));
  });

  test('starts again find the one process that was started, also next to a wrapper of a killed host', async () => {
    for (let round = 0; round < 5; round += 1) {
      const counter = join(folder, randomUUID());
      const spec = specOf(agent(`#agent: count ${counter}`, '#agent: fail 4'));
      const words = ['-c', SCRIPT, 'svc-worker', spec.runDir, ...spec.argv];
      const env = { ...spec.env, SVC_RUN_ID: spec.runId };
      spawn('/bin/sh', words, { cwd: spec.cwd, env, stdio: 'ignore', detached: true });
      const found = await Promise.all([1, 2, 3].map(() => processes.startAgain(spec)));
      const started = processes.readStarted(spec.runDir);
      assert.deepEqual(
        found.map(({ pid }) => pid),
        [started, started, started],
      );
      for (const { exited } of found) assert.equal((await settled(exited)).code, 4);
      assert.equal(readFileSync(counter, 'utf8').trim().split('\n').length, 1);
      const { pid, pidStart } = await processes.startAgain(spec);
      assert.deepEqual([pid, pidStart], [started, ''], 'its start time went with it');
    }
    const spec = specOf(agent());
    processes.claimStart(spec.runDir);
    await assert.rejects(processes.startAgain(spec), failsWith('conflict'));
  });

  test('a claimed run is never run by a wrapper, and a started one cannot be claimed', async () => {
    const counter = join(folder, randomUUID());
    const spec = specOf(agent(`#agent: count ${counter}`));
    const racing = processes.start(spec); // its wrapper is starting, unless the claim comes first
    const isClaimed = processes.claimStart(spec.runDir);
    const run = await racing.catch(() => null);
    const end = run && (await settled(run.exited));
    assert.equal(existsSync(counter), !isClaimed);
    assert.equal(end === null || end.code === ALREADY_STARTED, isClaimed);
    assert.equal(processes.claimStart(spec.runDir), isClaimed, 'a repeated claim has the same result');
    assert.equal(processes.readStarted(spec.runDir) === null, isClaimed);
  });
});

describe('liveness (R6)', () => {
  test('a name with spaces and parentheses does not shift the fields', () => {
    const fields = ['S', '7', '9', ...Array.from({ length: 16 }, (_, index) => String(index)), '4711', '0'];
    assert.deepEqual(parseStat(`42 (a) b (c)) ${fields.join(' ')}\n`), {
      pid: 42,
      ppid: 7,
      pgid: 9,
      sid: 0,
      zombie: false,
      start: '4711',
    });
  });

  test('a program whose name holds parentheses is recognised', async () => {
    const odd = join(folder, 'a) S 1 (b');
    symlinkSync(realpathSync(execFileSync('which', ['sleep'], { encoding: 'utf8' }).trim()), odd);
    const child = spawn(odd, ['600'], { stdio: 'ignore' });
    const entry = await until(() => {
      const read = createLinuxProcessTable().read(child.pid!);
      return typeof read === 'object' && readFileSync(`/proc/${child.pid}/comm`, 'utf8').startsWith('a) S')
        ? read
        : null;
    });
    assert.equal(entry.ppid, process.pid);
    assert.equal(processes.checkLiveness(child.pid!, entry.start), 'alive');
    child.kill('SIGKILL');
    await until(() => processes.checkLiveness(child.pid!, entry.start) === 'dead');
  });

  test('a pid with another start time is dead, a zombie is dead, a failed probe is unknown', async () => {
    const own = createLinuxProcessTable().read(process.pid);
    assert.ok(typeof own === 'object');
    assert.equal(processes.checkLiveness(process.pid, own.start), 'alive');
    assert.equal(processes.checkLiveness(process.pid, `${Number(own.start) + 1}`), 'dead');
    const blind = createProcesses({ table: createLinuxProcessTable(join(folder, 'no-proc')) });
    assert.equal(blind.checkLiveness(process.pid, own.start), 'unknown');

    // A shell may wait for its child until it has become another program, which never happens.
    const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const pid = Number(
      await new Promise((done) => parent.stdout.once('data', (chunk) => done(String(chunk)))),
    );
    await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    process.kill(pid, 'SIGKILL');
    const zombie = await until(() => {
      const entry = createLinuxProcessTable().read(pid);
      return typeof entry === 'object' && entry.zombie ? entry : null;
    });
    assert.equal(processes.checkLiveness(pid, zombie.start), 'dead');
    parent.kill('SIGKILL');
  });
});

describe('adopting a worker', () => {
  test('a worker that ended in between is read from its exit file, and one without it is lost', async () => {
    const spec = specOf(agent('#agent: fail 3'));
    const run = await processes.start(spec);
    await settled(run.exited);
    const { runDir, runId } = spec;
    const target = { runDir, runId, pid: run.pid, pidStart: run.pidStart };
    assert.deepEqual(await settled(processes.adopt(target).exited), { code: 3, signal: null });
    rmSync(join(runDir, 'exit'));
    assert.deepEqual(await settled(processes.adopt(target).exited), { code: null, signal: null });
  });

  test('nothing is concluded while the probe fails', async () => {
    const spec = specOf(agent('#agent: hang'));
    const run = await processes.start(spec);
    const real = createLinuxProcessTable();
    let failures = 0;
    let isBlind = true;
    const shaky = createProcesses({
      pollMs: 5,
      table: {
        ...real,
        read: (pid) => {
          if (!isBlind) return real.read(pid);
          failures += 1;
          return 'unknown';
        },
      },
    });
    let isOver = false;
    const adopted = shaky.adopt({ ...spec, pid: run.pid, pidStart: run.pidStart });
    void adopted.exited.then(() => {
      isOver = true;
    });
    await until(() => failures > 5);
    assert.equal(isOver, false);
    isBlind = false;
    await processes.stop({ ...run, runId: spec.runId }, { graceMs: 0 });
    assert.equal((await settled(adopted.exited)).code, processes.readExit(spec.runDir));
    shaky.close();
  });
});

describe('stopping a worker: nothing of it survives (R5)', () => {
  const stop = (spec: StartSpec, run: RunningProcess, graceMs?: number) =>
    processes.stop(
      { pid: run.pid, pidStart: run.pidStart, runId: spec.runId },
      graceMs === undefined ? {} : { graceMs },
    );

  test('an agent that ends on TERM records its exit code', async () => {
    const spec = specOf(agent('#agent: hang'));
    const run = await processes.start(spec);
    await printed(spec, 'agent: hanging');
    assert.deepEqual(await stop(spec, run), { survivors: [] });
    assert.deepEqual(await settled(run.exited), { code: 143, signal: null });
    assert.equal(processes.readExit(spec.runDir), 143);
  });

  test('an agent that ignores TERM is killed after the grace', async () => {
    const spec = specOf(agent('#agent: ignore-term', '#agent: hang'));
    const run = await processes.start(spec);
    await printed(spec, 'agent: hanging');
    assert.deepEqual(await stop(spec, run, 200), { survivors: [] });
    assert.deepEqual(await settled(run.exited), { code: null, signal: 'SIGKILL' });
    assert.match(logOf(spec), /SIGTERM ignored/);
    assert.equal(processes.readExit(spec.runDir), null);
  });

  test('a child in another session is ended too, even when its environment was cleared', async () => {
    const script =
      'setsid env -i sleep 600 & echo $! >>pids; setsid sleep 600 & echo $! >>pids; sleep 600 & echo $! >>pids; ' +
      'trap "" TERM; (trap "" TERM; while :; do sleep 600; done) & echo $! >>pids; echo ready; wait; wait; sleep 600';
    const spec = specOf(['/bin/bash', '-c', script]);
    const run = await processes.start(spec);
    await printed(spec, 'ready');
    const pids = readFileSync(join(spec.cwd, 'pids'), 'utf8').trim().split('\n').map(Number);
    assert.equal(pids.length, 4);
    await until(() => pids.every((pid) => isRunning(pid)));
    assert.deepEqual(await stop(spec, run, 100), { survivors: [] });
    assert.deepEqual(pids.filter(isRunning), []);
    await settled(run.exited);
  });

  test('processes that a normally ended agent leaves behind are found by its mark', async () => {
    const pidFile = join(folder, randomUUID());
    const spec = specOf(agent(`#agent: detach ${pidFile}`));
    const run = await processes.start(spec);
    assert.equal((await settled(run.exited)).code, 0);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    assert.equal(isRunning(pid), true);
    assert.deepEqual(await processes.sweep(spec.runId, run.pidStart), { survivors: [] });
    assert.equal(isRunning(pid), false);
  });

  test('a worker whose wrapper was killed is still stopped', async () => {
    const spec = specOf(agent('#agent: ignore-term', '#agent: hang'));
    const run = await processes.start(spec);
    await printed(spec, 'agent: hanging');
    process.kill(run.pid, 'SIGKILL');
    await settled(run.exited);
    const entries = await createLinuxProcessTable().list();
    const left = (entries ?? [])
      .filter((entry) => entry.pgid === run.pid && !entry.zombie)
      .map((entry) => entry.pid);
    assert.equal(left.length, 1);
    assert.deepEqual(await stop(spec, run, 100), { survivors: [] });
    assert.deepEqual(left.filter(isRunning), []);
  });

  test('a pid that was reused is never signalled', async () => {
    const bystander = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const entry = createLinuxProcessTable().read(bystander.pid!);
    assert.ok(typeof entry === 'object');
    const stale = { pid: bystander.pid!, pidStart: String(Number(entry.start) - 1), runId: randomUUID() };
    assert.deepEqual(await processes.stop(stale, { graceMs: 0 }), { survivors: [] });
    assert.equal(isRunning(bystander.pid!), true);
    for (const pid of [0, 1, process.pid]) {
      await processes.stop({ pid, pidStart: '1', runId: randomUUID() }, { graceMs: 0 });
    }
    const own = createLinuxProcessTable().read(process.pid);
    assert.ok(typeof own === 'object');
    await processes
      .stop({ pid: process.pid, pidStart: own.start, runId: randomUUID() }, { graceMs: 0, signal: 'SIGCONT' })
      .catch(() => {});
    assert.equal(isRunning(bystander.pid!), true, 'a child of this process is not part of the run');
    bystander.kill('SIGKILL');
  });

  test('an unreadable process table counts its processes as survivors', async () => {
    const blind = createProcesses({
      table: {
        ...platform.processes,
        read: () => 'unknown',
        list: async () => null,
        readVariable: () => null,
        readLogin: () => null,
        adoptsOrphans: () => false,
        findPlace: () => null,
      },
    });
    const answer = await blind.stop({ pid: 4_000_000, pidStart: '5', runId: randomUUID() }, { graceMs: 0 });
    assert.deepEqual(answer, { survivors: [4_000_000] });
  });
});

describe('recognising a worker', () => {
  test('a process descends from the nearest marked ancestor, also after clearing its environment', async () => {
    const spec = specOf(['/bin/sh', '-c', 'env -i sleep 600 & echo $!; wait']);
    const run = await processes.start(spec);
    const pid = Number(await until(() => existsSync(spec.logFile) && /^\d+\n/.exec(logOf(spec))?.[0]));
    await until(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'sleep');
    assert.equal(createLinuxProcessTable().readVariable(pid, MARK), null);
    assert.equal(processes.listRunsAbove(pid)[0], spec.runId);
    assert.equal(processes.listRunsAbove(run.pid)[0], spec.runId);
    const outside = spawn('sleep', ['600'], { stdio: 'ignore', env: { PATH: process.env.PATH } });
    assert.equal(processes.listRunsAbove(outside.pid!)[0] ?? null, process.env.SVC_RUN_ID ?? null);
    assert.deepEqual(processes.listRunsAbove(1), []);
    outside.kill('SIGKILL');
    await processes.stop({ pid: run.pid, pidStart: run.pidStart, runId: spec.runId });
  });
});

describe('the environment of a worker (R10)', () => {
  test('only listed variables pass, secrets and foreign SVC_ names never', () => {
    const base = {
      PATH: '/bin',
      LC_TIME: 'C',
      ANTHROPIC_API_KEY: 'a',
      GH_TOKEN: 'g',
      GIT_AUTHOR_NAME: 'n',
      GIT_DIR: '/x',
      GIT_WORK_TREE: '/x',
      GIT_INDEX_FILE: '/x',
      SVC_WEBHOOK_SECRET: 's',
      SVC_SESSION: 's-1',
      SVC_RUN_ID: 'outer',
      OPENAI_HOOK_SECRET: 's',
      DATABASE_URL: 'd',
      npm_config_registry: 'r',
    };
    const env = buildWorkerEnvironment(base, { SVC_SESSION: 's-2' }, ['OPENAI_HOOK_SECRET']);
    assert.deepEqual(env, {
      PATH: '/bin',
      LC_TIME: 'C',
      ANTHROPIC_API_KEY: 'a',
      GH_TOKEN: 'g',
      GIT_AUTHOR_NAME: 'n',
      SVC_SESSION: 's-2',
    });
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../../../engine/core/base/clock.ts';
import { createConfinement } from '../../../../../engine/workers/runner/confine/index.ts';
import { createProcesses, type RunProcesses } from '../../../../../engine/workers/runner/processes/index.ts';
import { createRunSockets } from '../../../../../engine/workers/runner/run-sockets.ts';
import {
  createLocalRunner,
  createProjectReader,
  createRunnerRouter,
  type ProjectReader,
} from '../../../../../engine/workers/runner/runs/index.ts';
import type { LocalRunner, Runner, RunReport } from '../../../../../engine/workers/runner/runs/runner.ts';
import { createSetup } from '../../../../../engine/workers/runner/setup/index.ts';
import { createWorktrees } from '../../../../../engine/workers/runner/worktrees/index.ts';
import type { SessionPlacement } from '../../../../../engine/workers/sessions/index.ts';
import { makeRepository, type TestRepository } from '../../../../support/workspaces/git.ts';
import { requireLocalPath } from '../../../../support/workspaces/local-path.ts';

const GRACE_MS = 300;
const NOBODY = { warn() {}, error() {}, info() {} } as unknown as Parameters<
  typeof createLocalRunner
>[0]['log'];

/** Converts values as the transport to another machine does: only what JSON supports. */
function sendAsJson<T>(value: T): T {
  if (value === undefined) return value;
  const sent = JSON.parse(JSON.stringify(value)) as T;
  assert.deepStrictEqual(sent, value, 'only plain data crosses');
  return sent;
}

/** A runner as a caller on another machine uses it. */
const connectRunner = (runner: LocalRunner): LocalRunner =>
  new Proxy(runner, {
    get(target, name: keyof LocalRunner) {
      const method = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        const answer = method(
          ...args.map((arg) =>
            typeof arg === 'function' ? (report: RunReport) => arg(sendAsJson(report)) : sendAsJson(arg),
          ),
        );
        return answer instanceof Promise ? answer.then(sendAsJson) : answer;
      };
    },
  });

describe('a runner', () => {
  let repository: TestRepository;
  let processes: RunProcesses;
  let agents: string;
  let projects: ProjectReader;
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };

  /** @param agents the machine's folder for sessions */
  function openRunner(agents: string): LocalRunner {
    processes = createProcesses();
    const root = repository.root;
    const environment = (extra: Record<string, string>) => ({ ...env, ...extra });
    const worktrees = createWorktrees({ env, agentsDir: agents });
    const paths = {
      data: join(root, '.svc'),
      db: '',
      socket: '',
      agents,
      worktrees: join(agents, 'worktrees'),
    };
    const configFile = join(root, 'svc.yaml');
    const config = { project: { name: 'own', root: '.' }, projects: [] };
    const setup = createSetup({
      processes,
      worktrees,
      where: () => ({ root, config, home: join(repository.folder, 'home') }) as never,
      environment,
      confine: async (_, { argv }) => argv,
      configFile,
      agentsDir: agents,
      log: NOBODY,
      endCommands: async () => undefined,
      graceMs: GRACE_MS,
    });
    const resolved = { resolveFolder: () => root };
    projects = createProjectReader({ worktrees, setup, agents: resolved, environment: () => env });
    return connectRunner(
      createLocalRunner({
        processes,
        worktrees,
        setup,
        confinement: createConfinement({
          env,
          root,
          configFile,
          paths,
          machineHome: '/nonexistent',
          svc: null,
        }),
        checkConfinement: async () => undefined,
        isEngineElsewhere: false,
        runSockets: createRunSockets({ root, version: '0', env }),
        agents: resolved,
        paths,
        configFile,
        svc: ['svc'],
        isArgvSeen: false,
        environment,
        clock: systemClock,
        log: NOBODY,
      }),
    );
  }

  before(() => {
    repository = makeRepository();
    agents = join(repository.root, '.svc', 'agents');
    mkdirSync(agents, { recursive: true });
    repository.commit({ '.gitignore': '.svc/\n' }, 'ignored');
  });
  after(() => rmSync(repository.folder, { recursive: true, force: true }));

  /** Runs everything up to the process of a run. */
  async function startRun<Placement extends SessionPlacement>(
    runner: Runner<Placement>,
    sessionId: string,
    script: string,
  ) {
    const run = { sessionId, runId: randomUUID() };
    const { placement, outputFrom } = await runner.place({
      sessionId,
      origin: await projects.findOrigin({ project: null, base: null, inplace: false }),
      placement: null,
      former: null,
      takenPorts: [],
      isQuiet: true,
      note: null,
    });
    const prepared = await runner.prepare({
      run,
      taskId: 't-1',
      project: null,
      setup: projects.readSetup(null),
      profile: 'lite',
      placement,
      mayHoldWork: false,
      agentFolderOf: null,
    });
    assert.ok(existsSync(prepared.svc ?? ''), 'its command is included');
    const process = await runner.start({
      run,
      profile: 'lite',
      placement,
      agent: 'shell',
      command: { transport: 'subprocess', template: `sh -c '${script}'`, isBuiltIn: false },
      worker: 'w-1',
      texts: { prompt: 'the task', brief: 'the brief\n', notes: null, resumption: null },
      agentSession: null,
      author: await projects.findAuthor(repository.root),
      variables: { SVC_TASK: 't-1' },
      timeoutSec: 60,
      gateway: null,
    });
    const order = {
      run,
      format: { transport: 'subprocess' as const, preset: 'claude' },
      outputFrom,
      placement,
      profile: 'lite',
      worker: 'w-1',
      since: 0,
      resumed: null,
    };
    const work = { sessionId, profile: 'lite', placement, isAlone: true };
    return { run, placement, process, order, work };
  }

  test('the runner carries a run from start to record, and everything that crosses is plain data', async () => {
    const runner = openRunner(agents);
    const result = `{"type":"result","subtype":"success","is_error":false,"session_id":"c-1","usage":{"input_tokens":3,"output_tokens":2}}`;
    const say = `printf "%s\\n" "${result.replaceAll('"', '\\"')}"`;
    const inspection = await runner.inspect({
      project: null,
      programs: ['sh'],
      base: null,
      isConfined: false,
    });
    assert.deepEqual([inspection.problem, inspection.base], [null, 'main']);
    const { run, placement, order, work } = await startRun(
      runner,
      's-1',
      `cat .svc/prompt.md >told.txt; ${say}; exit 3`,
    );
    const reports: RunReport[] = [];
    assert.deepEqual(await runner.watch(order, (report) => void reports.push(report)), {
      code: 3,
      signal: null,
    });
    assert.ok(reports.length > 0);
    const { facts, hasSpoken, hasLostSession } = await runner.collect(order);
    assert.deepEqual(
      [facts.agentSession, facts.usage?.input, hasSpoken, hasLostSession],
      ['c-1', 3, true, false],
    );
    const all = { sessionId: 's-1', maxBytes: 4096, byLine: true, hasEnded: true };
    const part = await runner.readLog({ ...all, from: order.outputFrom });
    assert.deepEqual([part.text, part.next, part.dropped], [`${result}\n`, part.end, 0]);
    assert.equal((await runner.readLog({ ...all, from: { lastLines: 1 } })).from, part.from);
    assert.deepEqual(Object.keys(await runner.listLogTimes(['s-1', 's-9'])), ['s-1']);
    const kept = await runner.keep({ ...work, number: 1, message: 'what it left' });
    assert.deepEqual([kept.commits, kept.files, kept.left], [1, 1, []]);
    assert.deepEqual(
      (await runner.listCommits(placement))?.map(({ subject }) => subject),
      ['what it left'],
    );
    assert.equal(readFileSync(join(requireLocalPath(placement.worktree), 'told.txt'), 'utf8'), 'the task');
    await runner.discard(run);
    assert.ok(!existsSync(join(agents, 's-1', run.runId)));
    await runner.close();
  });

  test('the router sends a session to its machine, and no path of another machine is a string here', async () => {
    const there = join(repository.folder, 'box2', 'agents');
    mkdirSync(there, { recursive: true });
    const [local, remote] = [openRunner(agents), openRunner(there)];
    const router = createRunnerRouter({
      local,
      findRemote(runner) {
        assert.equal(runner, 'r-1');
        return remote;
      },
      findRunnerOf: (sessionId) => (sessionId === 's-4' ? 'r-1' : null),
      closeRemotes: async () => undefined,
    });
    const { run, placement, order, work } = await startRun(router, 's-4', 'echo made >made.txt');
    assert.deepEqual(
      [placement.runner, placement.worktree],
      ['r-1', { path: join(there, 'worktrees', 's-4') }],
      'a placement of another machine',
    );
    assert.deepEqual(await router.watch(order, () => undefined), { code: 0, signal: null });
    await router.collect(order);
    const kept = await router.keep({ ...work, number: 1, message: 'what it left' });
    assert.deepEqual([kept.commits, kept.left], [1, []]);
    const again = await router.place({
      sessionId: 's-4',
      origin: null,
      placement,
      former: null,
      takenPorts: [],
      isQuiet: true,
      note: null,
    });
    assert.deepEqual(again.placement, placement, 'a placement survives the way there and back');
    const torn = { sessionId: 's-4', taskId: 't-1', project: null, profile: 'lite' };
    assert.deepEqual(await router.clear({ session: torn, placement, setup: projects.readSetup(null) }), []);
    await router.discard(run);
    assert.deepEqual([existsSync(join(agents, 's-4')), existsSync(join(there, 's-4'))], [false, true]);
    const here = await startRun(router, 's-5', 'true');
    assert.deepEqual(
      [here.placement.runner, here.placement.worktree],
      [null, join(agents, 'worktrees', 's-5')],
    );
    await router.watch(here.order, () => undefined);
    for (const runner of [local, remote]) await runner.close();
  });

  test('a closing runner releases a run, which another one adopts and ends', async () => {
    const first = openRunner(agents);
    const { run, process, order } = await startRun(first, 's-2', 'sleep 600');
    const watched = first.watch(order, () => undefined);
    await first.close();
    assert.equal(await watched, null);
    const second = openRunner(agents);
    const { pid, pidStart } = process;
    const adopted = await second.adopt({
      run,
      profile: 'lite',
      process: { pid, pidStart },
      mayNotHaveStarted: false,
    });
    assert.ok(adopted.state === 'running' && adopted.process.pid === pid);
    const ending = second.watch(order, () => undefined);
    await second.stop(run, GRACE_MS);
    assert.ok((await ending) !== null);
    await second.collect(order);
    assert.equal(processes.checkLiveness(pid, pidStart), 'dead');
    const gone = await second.adopt({ run, profile: 'lite', process: null, mayNotHaveStarted: false });
    assert.equal(gone.state, 'ended');
    await second.close();
  });

  test('the runner never starts a run that it reported as not started', async () => {
    const runner = openRunner(agents);
    const run = { sessionId: 's-3', runId: randomUUID() };
    mkdirSync(join(agents, 's-3', run.runId), { recursive: true });
    const order = { run, profile: 'lite', process: null, mayNotHaveStarted: true };
    assert.deepEqual(await runner.adopt(order), { state: 'not_started' });
    assert.ok(existsSync(join(agents, 's-3', run.runId, 'started')), 'its only start is used up');
    assert.deepEqual(await runner.adopt(order), { state: 'not_started' });
    await runner.close();
  });
});

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineStatus, WireValue } from '../../../engine/index.ts';
import { connectToEngine } from '../../../engine/index.ts';
import { processStat } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import {
  isRunning,
  makeWorkspace,
  SECRET,
  SVC,
  type TestWorkspace,
} from '../../support/workspaces/workspace.ts';

/** Returns the letter of a process's state on Linux: `T` if it is stopped. */
const readState = (pid: number): string | null =>
  existsSync(`/proc/${pid}/stat`)
    ? (/\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null)
    : null;

type Status = WireValue<EngineStatus>;

const environmentOf = (pid: number): string[] => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');

/** The environment of a run's process. */
const OF_A_RUN = { SVC_RUN_ID: '9f4f6a3e-0000-4000-8000-000000000000' };

describe('the supervisor of an engine', { timeout: 180_000 }, () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());
  const status = async (): Promise<Status> => (await ws.svc(['status', '--json'])).json<Status>();
  const out = (): string => readFileSync(join(ws.root, '.svc', 'log', 'daemon.out'), 'utf8');

  test("the supervisor restarts the engine after a crash, without a client and in the person's environment", async () => {
    await ws.program(['up'], { env: { OF_THE_PERSON: 'yes' } });
    const supervisor = ws.supervisorPid() ?? assert.fail('it has a supervisor');
    const next = await ws.crashDaemon();
    assert.equal(processStat(next)?.parent, supervisor);
    assert.ok(environmentOf(next).includes('OF_THE_PERSON=yes'));
    const { receivers, secrets, supervisor: shown } = await status();
    assert.equal(receivers.length, 1, 'the receiver is open again');
    assert.deepEqual(secrets, [{ key: 'webhook.secret_env', name: 'SVC_WEBHOOK_SECRET', is_set: true }]);
    assert.equal(shown, supervisor);
    assert.match(out(), /is restarted: it ended with SIGKILL/);
  });

  test('clients of a crashed engine wait for its supervisor, since theirs is another environment', async () => {
    const supervisor = ws.supervisorPid();
    const crashed = ws.daemonPid() ?? 0;
    process.kill(crashed, 'SIGKILL');
    const ran = await ws.program(['task', 'list'], { env: { SVC_WEBHOOK_SECRET: '' } });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ws.supervisorPid(), supervisor);
    assert.equal((await status()).receivers.length, 1);
  });

  test('a caller inside a run never starts an engine: it waits for one, and then says so in one sentence', async () => {
    await ws.svc(['down']);
    const env = { ...ws.env, ...OF_A_RUN };
    await assert.rejects(
      connectToEngine({ cwd: ws.root, env, daemon: [process.execPath, SVC, 'daemon'], patienceMs: 300 }),
      {
        code: 'engine_not_running',
        message: /and a worker cannot start one$/,
      },
    );
    assert.equal((await ws.svc(['daemon', '--json'], { env: OF_A_RUN })).code, 4);
    assert.equal(ws.daemonPid(), null);
    // A person starts the engine during the wait.
    const listed = ws.program(['task', 'list'], { env: { ...OF_A_RUN, SVC_WEBHOOK_SECRET: '' } });
    await ws.program(['up']);
    assert.equal((await listed).code, 0);
    assert.equal((await status()).receivers.length, 1);
  });

  test('a caller inside a run is recognised by its parents, even after clearing its environment', async () => {
    await ws.svc(['down']);
    const bare = `env -u SVC_RUN_ID '${process.execPath}' '${SVC}' daemon; :`;
    const { stderr } = spawnSync('/bin/sh', ['-c', bare], { cwd: ws.root, env: { ...ws.env, ...OF_A_RUN } });
    assert.match(stderr.toString(), /a worker cannot start one/);
    assert.equal(ws.daemonPid(), null);
  });

  test("a killed supervisor leaves a working engine, which the person's next client starts again after a crash", async () => {
    await ws.svc(['up']);
    const first = ws.daemonPid() ?? 0;
    process.kill(ws.supervisorPid() ?? 0, 'SIGKILL');
    await until(async () => (await status()).supervisor === null);
    assert.equal(ws.daemonPid(), first);
    process.kill(first, 'SIGKILL');
    await until(() => !isRunning(first));
    assert.equal((await ws.svc(['task', 'list'])).code, 0);
    assert.notEqual((await status()).supervisor, null, 'it has a supervisor again');
  });

  test('the supervisor ends with the engine that svc down stops, and when svc down finds only itself', async () => {
    const pids = () => [ws.daemonPid() ?? 0, ws.supervisorPid() ?? 0];
    const running = pids();
    assert.equal((await ws.svc(['down'])).code, 0);
    assert.deepEqual(running.map(isRunning), [false, false]);

    await ws.svc(['up']);
    // The engine crashed, and its configuration does not let another one start.
    const file = join(ws.root, 'svc.yaml');
    const good = readFileSync(file, 'utf8');
    const [engine = 0, supervisor = 0] = pids();
    writeFileSync(file, `${good}\nnonsense: [`);
    process.kill(engine, 'SIGKILL');
    await until(() => /could not be started: /.test(out()), 'the refused start');
    assert.ok(isRunning(supervisor));
    // The caller receives the reason itself, and the supervisor exits.
    assert.equal(
      (await ws.svc(['task', 'list', '--json'])).json<{ error: { code: string } }>().error.code,
      'config_invalid',
    );
    await until(() => !isRunning(supervisor));
    writeFileSync(file, good);

    await ws.svc(['up']);
    const [last = 0, its = 0] = pids();
    process.kill(its, 'SIGSTOP');
    process.kill(last, 'SIGKILL');
    await until(() => readState(last) !== 'R');
    const stopped = ws.program(['down']);
    await until(() => readState(its) === 'T');
    process.kill(its, 'SIGCONT');
    assert.equal((await stopped).code, 0);
    assert.equal(isRunning(its), false);
    assert.equal((await ws.svc(['status'])).code, 4);
  });

  test('the supervisor yields to a host that was started otherwise', async () => {
    await ws.svc(['up']);
    const supervisor = ws.supervisorPid() ?? 0;
    process.kill(supervisor, 'SIGSTOP');
    const first = ws.daemonPid() ?? 0;
    process.kill(first, 'SIGKILL');
    await until(() => !isRunning(first));
    const other = spawn(process.execPath, [SVC, 'daemon'], { cwd: ws.root, env: ws.env, stdio: 'ignore' });
    await until(() => ws.daemonPid() === other.pid);
    process.kill(supervisor, 'SIGCONT');
    await until(() => !isRunning(supervisor), 'its end');
    assert.ok(isRunning(other.pid ?? 0));
    assert.equal((await ws.svc(['down'])).code, 0);
  });

  test('the engine stops when its data folder is removed', async () => {
    await ws.svc(['up']);
    const supervisor = ws.supervisorPid() ?? 0;
    await ws.deleteData();
    await until(() => !isRunning(supervisor));
    assert.equal(existsSync(join(ws.root, '.svc')), false);
  });

  test("svc up names the caller's secrets that the engine lacks or has with another value", async () => {
    await ws.program(['up'], { env: { SVC_WEBHOOK_SECRET: '' } });
    const lacking = await ws.svc(['up']);
    assert.equal(lacking.code, 1);
    assert.match(
      lacking.stderr,
      /the engine does not have SVC_WEBHOOK_SECRET; svc down && svc up restarts it with the value of this shell/,
    );
    assert.match(lacking.stdout, /receiver +off: SVC_WEBHOOK_SECRET is not set/);
    assert.match(lacking.stdout, /not set in the engine: SVC_WEBHOOK_SECRET \(webhook\.secret_env\)/);
    const doctor = (await ws.svc(['doctor', '--json'])).json<
      { check: string; state: string; found: string }[]
    >();
    const seen = doctor.find(({ check }) => check === 'webhook.secret_env');
    assert.deepEqual([seen?.state, /not set in the engine/.test(seen?.found ?? '')], ['warn', true]);
    await ws.svc(['down']);
    assert.equal((await ws.svc(['up'])).code, 0);
    const other = await ws.svc(['up'], { env: { SVC_WEBHOOK_SECRET: 'another one' } });
    assert.deepEqual([other.code, /has a different SVC_WEBHOOK_SECRET/.test(other.stderr)], [1, true]);
    assert.doesNotMatch(other.stderr + other.stdout, new RegExp(SECRET));
    // A caller without a secret does not change it.
    assert.equal((await ws.svc(['up'], { env: { SVC_WEBHOOK_SECRET: '' } })).code, 0);
  });
});

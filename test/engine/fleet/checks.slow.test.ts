import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import type { EngineClient } from '../../../engine/index.ts';
import { BROKER_MISSING } from '../../support/broker.ts';
import {
  awaitEnd,
  dispatch,
  makeFleet,
  makeJoinedFleet,
  makeMachine,
  type TestFleet,
  type TestMachine,
  trustAgent,
  trustDigest,
  writeScript,
} from '../../support/fleet.ts';
import { until } from '../../support/wait.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Passes only on a machine of the pool, which has the file, and in a checkout that was set up. */
const TEST = 'test -f "$HOME/hardware" && test -f made.txt && test -f set-up.out';

/** Runs a session on box2 that reports a command as passed. */
async function reportPassed(client: EngineClient, command: string): Promise<string> {
  const quoted = command.replaceAll('"', '\\"').replaceAll('$', '\\$');
  const { session } = await dispatch(client, {
    body: writeScript(
      'run echo made >made.txt && git add made.txt && git commit -qm made',
      `run svc verify report --passed "${quoted}" --summary fine`,
      'no-change',
    ),
    on: 'box2',
  });
  const ended = await awaitEnd(client, session);
  assert.equal(ended.failure, null);
  return session;
}

describe('evidence of a project that is verified in its pool', () => {
  let fleet: TestFleet;
  let other: TestMachine;
  let ws: TestWorkspace;
  let client: EngineClient;
  const addHardware = (machine: TestMachine): void => writeFileSync(join(machine.home, 'hardware'), '');
  before(async () => {
    const projects = [{ id: 'own', path: '.', setup: ['touch set-up.out'], verify: 'pool' }];
    fleet = await makeFleet(
      { hosted: false, yaml: `projects: ${JSON.stringify(projects)}\nguard: { profile: none }\n` },
      { flags: ['--share', 'own'], prepare: addHardware },
    );
    ({ ws } = fleet);
    other = makeMachine(ws, 'box3');
    addHardware(other);
    await other.add('--share', 'own');
    assert.equal((await ws.svc(['project', 'trust', 'own', '--yes'])).code, 0);
    client = await ws.connect();
    ws.repository.commit({ '.gitignore': '.svc/\n*.out\n' });
  });
  after(async () => {
    await fleet?.close();
    await other?.close();
  });

  const makeReport = (command: string): Promise<string> => reportPassed(client, command);
  const rerun = (session: string, more: object = {}) => client.call('verify.rerun', { session, ...more });
  const listLeft = (machine: TestMachine): string[] => machine.listWorkers().map(({ command }) => command);
  const holding = (machine: TestMachine, file: string): string => join(machine.home, file);

  it('is rerun on another machine of the pool than its own, which the state names', async () => {
    const session = await makeReport(TEST);
    const { state, rerun: made, reasons } = await rerun(session);
    assert.deepEqual([state, made?.on, made?.agrees, reasons], ['verified', 'box3', true, []]);
    const { stdout } = await ws.svc(['verify', 'show', session]);
    assert.match(stdout, /rerun .* on box3 at /);
    assert.equal(existsSync(join(other.root(), '.svc/agents', session)), false);
    assert.deepEqual(other.listWorktrees(), []);
    assert.deepEqual(listLeft(other), []);
  });

  it('is rerun on its own machine if the pool has no other, and disagrees as it does here', async () => {
    const session = await makeReport(TEST);
    await client.call('runner.drain', { name: 'box3' });
    rmSync(holding(fleet.box, 'hardware'));
    const { state, rerun: made } = await rerun(session);
    assert.deepEqual([state, made?.on], ['disagrees', 'box2']);
    addHardware(fleet.box);
    assert.equal((await rerun(session)).state, 'verified');
    await client.call('runner.drain', { name: 'box2' });
    await assert.rejects(rerun(session), { code: 'no_runner' });
    for (const name of ['box2', 'box3']) await client.call('runner.drain', { name, undo: true });
  });

  const waiting = 'echo $$ >>"$HOME/started"; while test -e "$HOME/hold"; do sleep 0.05; done';
  const readStarts = (machine: TestMachine): string[] => {
    const file = holding(machine, 'started');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  };
  const hold = (): void => writeFileSync(holding(other, 'hold'), '');
  const release = (): void => rmSync(holding(other, 'hold'));

  it('is rerun from the start after its machine’s runner was killed, and leaves nothing of the first time', async () => {
    const session = await makeReport(waiting);
    rmSync(holding(fleet.box, 'started'), { force: true });
    hold();
    const result = rerun(session);
    await until(() => readStarts(other).length === 1, 'the command');
    const pid = other.runnerPid();
    assert.ok(pid !== null);
    process.kill(pid, 'SIGKILL');
    await until(() => readStarts(other).length === 2, 'the command again');
    assert.equal(listLeft(other).filter((each) => each.includes('hold')).length, 1);
    release();
    assert.deepEqual([(await result).state, readStarts(other).length], ['verified', 2]);
    assert.deepEqual(listLeft(other), []);
  });

  it('is rerun from the start after the connection was lost', async () => {
    const session = await makeReport(waiting);
    rmSync(holding(other, 'started'), { force: true });
    hold();
    const result = rerun(session);
    await until(() => readStarts(other).length === 1, 'the command');
    for (const each of other.transportPids()) process.kill(each, 'SIGKILL');
    await until(() => readStarts(other).length === 2, 'the command again');
    release();
    assert.equal((await result).state, 'verified');
    assert.deepEqual(listLeft(other), []);
  });

  it('ends there when its caller gives up, and when the engine is killed', async () => {
    const session = await makeReport(waiting);
    rmSync(holding(other, 'started'), { force: true });
    hold();
    const caller = await ws.connect();
    caller.call('verify.rerun', { session }).catch(() => undefined);
    await until(() => readStarts(other).length === 1, 'the command');
    caller.close();
    await until(() => listLeft(other).length === 0, 'the end of the command');
    await until(
      async () => (await client.call('verify.status', { session })).rerun_state === null,
      'the end of the rerun here',
    );
    client.call('verify.rerun', { session }).catch(() => undefined);
    await until(() => readStarts(other).length === 2, 'the command');
    await ws.killDaemon();
    await until(() => listLeft(other).length === 0, 'the end of the command');
    await until(() => !existsSync(join(other.root(), '.svc/agents', session)), 'the removal of the checkout');
    release();
    client = await ws.connect();
    await until(async () => {
      const rows = await client.call('runner.list', {});
      return rows.every(({ state }) => state === 'ready');
    });
    assert.equal((await rerun(session)).state, 'verified');
  });
});

describe('evidence that is rerun on a machine that has joined', { skip: BROKER_MISSING }, () => {
  it('runs only commands that its person has agreed to', async () => {
    const projects = [{ id: 'own', path: '.', verify: 'pool' }];
    const yaml = `projects: ${JSON.stringify(projects)}\nguard: { profile: none }\n`;
    const { ws, box, close } = await makeJoinedFleet({ yaml });
    try {
      assert.equal((await ws.svc(['project', 'share', 'own'])).code, 0);
      const client = await ws.connect();
      await until(async () => (await client.call('runner.list', {}))[0]?.state === 'ready', 'the machine');
      await trustAgent(client, box);
      const session = await reportPassed(client, 'test -f made.txt');
      const refused = await client.call('verify.rerun', { session }).catch((error: SvcError) => error);
      assert.ok(refused instanceof SvcError);
      assert.equal(refused.code, 'trust_missing');
      await trustDigest(box, String(refused.hint));
      const { state, rerun } = await client.call('verify.rerun', { session });
      assert.deepEqual([state, rerun?.on], ['verified', 'box2']);
    } finally {
      await close();
    }
  });
});

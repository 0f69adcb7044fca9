import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { PreparedRun } from '../../../../../engine/workers/runner/runs/index.ts';
import type { PlacedRun } from '../../../../../engine/workers/runner/runs/runner.ts';
import { isRunning } from '../../../../support/processes/processes.ts';
import type { HostMoment, RunnerHost } from '../../../../support/processes/runner-host.ts';
import {
  makeRunnerSessions,
  RESULT,
  type RunnerSession,
} from '../../../../support/processes/runner-sessions.ts';
import { until } from '../../../../support/wait.ts';
import { requireLocalPath } from '../../../../support/workspaces/local-path.ts';

/** The error of a call whose host died before it answered. */
const isLost = (error: unknown): boolean => error === null;

describe('a call of a runner that is repeated after its answer was lost', () => {
  let made: ReturnType<typeof makeRunnerSessions>;
  const makeSession: typeof made.makeSession = (options) => made.makeSession(options);
  before(() => {
    made = makeRunnerSessions();
  });
  after(() => made.close());

  /** Carries a run to its record, repeats each call once more, and checks that everything has happened once. */
  async function finish(session: RunnerSession, host: RunnerHost, placed: PlacedRun, prepared: PreparedRun) {
    const { run, startOf, watchOf } = session;
    const order = startOf(placed);
    const [process, ...others] = await Promise.all([1, 2, 3].map(() => host.call('start', order)));
    for (const other of others) assert.deepEqual(other, process);
    session.release('agent');
    const watched = watchOf(placed, prepared);
    assert.deepEqual(await host.watch(watched), { code: 0, signal: null });
    const late = await host.call('prepare', session.prepareOf(placed));
    assert.deepEqual([late.svc, late.outputFrom], [prepared.svc, null]);
    assert.equal((await host.call('start', order)).pid, process?.pid, 'it has ended');
    const result = await host.call('collect', watched);
    assert.equal(result.facts.agentSession, 'c-1');
    assert.deepEqual(await host.call('collect', watched), result);
    const work = {
      ...run,
      profile: 'lite',
      placement: placed.placement,
      isAlone: true,
      number: 1,
      message: 'the rest',
    };
    const kept = await host.call('keep', work);
    assert.deepEqual([kept.commits, kept.files, kept.left], [1, 1, []]);
    assert.deepEqual(await host.call('keep', work), kept);
    const part = { sessionId: run.sessionId, from: watched.outputFrom, maxBytes: 4096, byLine: true };
    const { text } = await host.call('readLog', { ...part, hasEnded: true });
    assert.equal(text, `from agent\n${RESULT}\n`, 'the output of the agent alone');
    for (const name of ['first', 'second', 'agent']) assert.equal(session.listStarts(name).length, 1, name);
    const log = session.readLog();
    for (const line of [`[svc: ${run.sessionId}]`, 'from first', 'from second', 'from agent'])
      assert.equal(log.split(`${line}\n`).length, 2, `${line} once in ${log}`);
    assert.equal(log.match(/\[svc: setup\] sh -c/g)?.length, 2, log);
    assert.match(log, /from second\n\[svc: setup\] exit code 0/);
    await host.call('discard', run);
    await host.call('discard', run);
    assert.deepEqual(
      readdirSync(join(made.agents, run.sessionId)).filter((name) => name.includes(run.runId)),
      [],
    );
    await assert.rejects(host.call('start', order), { code: 'conflict', isRaw: false });
    assert.equal(session.listStarts('agent').length, 1);
  }

  const isAlive = (pid: string | undefined): boolean => isRunning(Number(pid));

  const moments: HostMoment[] = [
    'before first',
    'after first',
    'before second',
    'after second',
    'before mark',
    'after mark',
    'within shim',
    'after shim',
    'before agent',
    'after agent',
  ];
  for (const moment of moments)
    test(`a run whose host is killed ${moment} runs each setup command and the agent once`, async () => {
      const session = makeSession();
      for (const name of ['first', 'second']) session.release(name);
      const killed = session.openHost(moment);
      const placed = await killed.call('place', session.place);
      let prepared: PreparedRun | null = null;
      try {
        prepared = await killed.call('prepare', session.prepareOf(placed));
        await killed.call('start', session.startOf(placed));
        assert.fail('it lives');
      } catch (error) {
        assert.equal(error, null);
      }
      const host = session.openHost();
      const again = await host.call('prepare', session.prepareOf(placed));
      await finish(session, host, placed, prepared ?? again);
    });

  test('a setup command that runs while its host is killed is followed by the next one, and repeats wait for it', async () => {
    const session = makeSession();
    const killed = session.openHost();
    const placed = await killed.call('place', session.place);
    assert.deepEqual(await killed.call('place', session.place), placed);
    const lost = assert.rejects(killed.call('prepare', session.prepareOf(placed)), isLost);
    const [pid] = await until(() => session.listStarts('first').length > 0 && session.listStarts('first'));
    await killed.kill();
    await lost;
    assert.ok(isAlive(pid));
    const host = session.openHost();
    const repeats = [1, 2, 3].map(() => host.call('prepare', session.prepareOf(placed)));
    session.release('first');
    await until(() => session.listStarts('second').length > 0, 'the second command');
    session.release('second');
    const [prepared, ...others] = await Promise.all(repeats);
    for (const other of others) assert.deepEqual(other, prepared);
    await finish(session, host, placed, prepared!);
  });

  test('a setup that has failed fails again with its exit code, and runs no command again', async () => {
    const session = makeSession({ code: 7 });
    for (const name of ['first', 'second']) session.release(name);
    const killed = session.openHost();
    const placed = await killed.call('place', session.place);
    const order = session.prepareOf(placed);
    const failure = { code: 'setup_failed', message: /exit code 7/, isRaw: false };
    await assert.rejects(killed.call('prepare', order), failure);
    await assert.rejects(killed.call('prepare', order), failure);
    await killed.kill();
    const host = session.openHost();
    await assert.rejects(host.call('prepare', order), failure);
    for (const name of ['first', 'second']) assert.equal(session.listStarts(name).length, 1, name);
    await assert.rejects(host.call('start', session.startOf(placed)), { code: 'conflict', isRaw: false });
  });

  test('a repeated stop ends the agent or the setup of a killed host', async () => {
    const session = makeSession();
    const killed = session.openHost();
    const placed = await killed.call('place', session.place);
    const lost = assert.rejects(killed.call('prepare', session.prepareOf(placed)), isLost);
    const [setup] = await until(() => session.listStarts('first').length > 0 && session.listStarts('first'));
    await killed.kill();
    await lost;
    const host = session.openHost();
    await host.call('stop', session.run, 100);
    assert.ok(!isAlive(setup));
    await assert.rejects(host.call('prepare', session.prepareOf(placed)), { code: 'setup_failed' });

    const other = makeSession();
    for (const name of ['first', 'second']) other.release(name);
    const second = other.openHost();
    const there = await second.call('place', other.place);
    const prepared = await second.call('prepare', other.prepareOf(there));
    await second.call('start', other.startOf(there));
    const [agent] = await until(() => other.listStarts('agent').length > 0 && other.listStarts('agent'));
    await second.kill();
    const third = other.openHost();
    await third.call('stop', other.run, 100);
    assert.ok(!isAlive(agent));
    await third.call('stop', other.run, 100);
    await third.call('start', other.startOf(there));
    assert.equal((await third.watch(other.watchOf(there, prepared)))?.code, 143);
    assert.equal(other.listStarts('agent').length, 1);
  });

  test('a run that was given up is never started, and a run that is not known is not watched', async () => {
    const session = makeSession();
    for (const name of ['first', 'second']) session.release(name);
    const killed = session.openHost('before agent');
    const placed = await killed.call('place', session.place);
    const prepared = await killed.call('prepare', session.prepareOf(placed));
    await assert.rejects(killed.call('start', session.startOf(placed)), isLost);
    const host = session.openHost();
    const watched = session.watchOf(placed, prepared);
    await assert.rejects(host.watch(watched), { code: 'not_found', isRaw: false });
    const { run } = session;
    const adoption = { run, profile: 'lite', process: null, mayNotHaveStarted: true };
    assert.deepEqual(await host.call('adopt', adoption), { state: 'not_started' });
    await assert.rejects(host.call('start', session.startOf(placed)), {
      code: 'conflict',
      message: /given up/,
      isRaw: false,
    });
    assert.deepEqual(session.listStarts('agent'), []);
  });

  test('a repeated place finds the worktree of the first also under another name', async () => {
    const session = makeSession();
    const { repository } = made;
    repository.git('worktree', 'add', '-b', `svc/${session.run.sessionId}`, join(repository.folder, 'taken'));
    const killed = session.openHost();
    const [placed, same] = await Promise.all([1, 2].map(() => killed.call('place', session.place)));
    assert.deepEqual(same, placed);
    assert.match(placed?.placement.branch ?? '', /^svc\/s-\d+-[0-9a-f]{4}$/);
    await killed.kill();
    assert.deepEqual(await session.openHost().call('place', session.place), placed);
  });

  test('a full disk is reported as such by the calls that write there', async (t) => {
    const session = makeSession();
    for (const name of ['first', 'second']) session.release(name);
    const host = session.openHost();
    const placed = await host.call('place', session.place);
    const full = { code: 'storage_full', isRaw: false };
    /** Makes a call while a folder is on a full disk, and again once it is not. */
    async function callInFull<T>(folder: string, call: () => Promise<T>): Promise<T | null> {
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', folder]).status !== 0)
        return null;
      t.after(() => spawnSync('umount', ['-l', folder]));
      spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'full')}`], { stdio: 'ignore' });
      await assert.rejects(call(), full);
      rmSync(join(folder, 'full'));
      return call();
    }
    const prepared = await callInFull(join(made.agents, session.run.sessionId), () =>
      host.call('prepare', session.prepareOf(placed)),
    );
    if (prepared === null) return t.skip('no tmpfs can be mounted here');
    await callInFull(join(requireLocalPath(placed.placement.worktree), '.svc'), () =>
      host.call('start', session.startOf(placed)),
    );
    await until(() => session.listStarts('agent').length > 0, 'the agent');
    await host.call('stop', session.run, 100);
    for (const name of ['first', 'second', 'agent']) assert.equal(session.listStarts(name).length, 1, name);
  });
});

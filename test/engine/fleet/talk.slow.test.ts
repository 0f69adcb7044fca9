import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import {
  awaitEnd,
  dispatch,
  makeFleet,
  readLogHere,
  showSession,
  type TestFleet,
  type TestMachine,
  writeScript,
} from '../../support/fleet.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';

/** A prompt that the scripted agent obeys. */
const COMMIT = 'echo early > early.txt && git add early.txt && git commit -qm early';

describe('a worker on another machine', () => {
  let fleet: TestFleet;
  let ws: TestWorkspace;
  let box: TestMachine;
  let client: EngineClient;
  before(async () => {
    fleet = await makeFleet();
    ({ ws, box } = fleet);
    client = await ws.connect();
  });
  after(() => fleet?.close());

  const start = async (...directives: string[]): Promise<string> =>
    (await dispatch(client, { body: writeScript(...directives), on: 'box2' })).session;
  const read = (session: string): string => readLogHere(ws, session).toString();
  /** A file of that machine, for which an agent waits. */
  const go = (name: string): string => join(box.home, name);

  it('asks, and works on with the answer', async () => {
    const session = await start('run svc ask open "Which port?"', 'no-change');
    const ask = await until(async () => (await client.call('ask.list', {})).asks[0]);
    assert.equal(ask.question, 'Which port?');
    assert.equal((await ws.svc(['ask', 'answer', String(ask.id), 'port', '8080'])).code, 0);
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
    assert.match(read(session), /port 8080/);
  });

  it('locks paths of the project, relative and absolute, and sees the locks of others', async () => {
    assert.equal((await ws.svc(['lock', 'acquire', 'README.md'])).code, 0);
    const session = await start(
      'run svc lock acquire app/main.txt && svc lock acquire "$PWD/app/other.txt"',
      'run svc lock acquire README.md 2>&1; svc lock acquire "$PWD/README.md" 2>&1; true',
      'run svc lock list',
      `wait-for ${go('locked')}`,
      'no-change',
    );
    const held = await until(async () => {
      const { locks } = await client.call('lock.status', {});
      return locks.length === 3 ? locks : null;
    });
    assert.deepEqual(
      held
        .filter(({ holder }) => holder === session)
        .map(({ path }) => path)
        .toSorted(),
      ['app/main.txt', 'app/other.txt'],
    );
    writeFileSync(go('locked'), '');
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
    assert.equal(read(session).match(/chair holds README\.md/g)?.length, 2, read(session));
    assert.equal((await client.call('lock.status', {})).locks.length, 1);
  });

  it('reports evidence for its newest commit', async () => {
    const session = await start(
      `run ${COMMIT}`,
      "run svc verify report --passed 'test -f early.txt' --summary fine",
      'no-change',
    );
    const shown = await awaitEnd(client, session);
    const evidence = await client.call('verify.status', { session });
    assert.equal(evidence.head_commit, ws.repository.git('rev-parse', `svc/${session}`));
    assert.equal(evidence.head_commit, shown.head_commit);
    const verified = await client.call('verify.rerun', { session });
    assert.equal(verified.state, 'verified', JSON.stringify(verified));
  });

  it('shows its commits and its diff while it runs', async () => {
    const session = await start(`run ${COMMIT}`, `say committed`, `wait-for ${go('seen')}`, 'no-change');
    await until(() => /committed/.test(read(session)));
    const diff = await client.call('worktree.diff', { session });
    assert.match(JSON.stringify(diff), /early\.txt/);
    assert.notEqual((await showSession(client, session)).state, 'ended');
    writeFileSync(go('seen'), '');
    await awaitEnd(client, session);
  });

  it('fails, is resumed in its worktree there, and is followed up', async () => {
    const ledger = go('runs');
    const first = await start(`run echo $PWD >>${ledger}`, `run ${COMMIT}`, 'no-change', 'fail 3');
    assert.equal((await awaitEnd(client, first)).exit_code, 3);
    const resumed = await ws.svc(['worker', 'resume', first, '--json']);
    assert.equal(resumed.code, 0, resumed.stderr);
    const { session_id: second } = (await client.call('session.list', {}))[0]!;
    await awaitEnd(client, second);
    const folders = readFileSync(ledger, 'utf8').trim().split('\n');
    assert.equal(folders.length, 2, read(second));
    assert.equal(new Set(folders).size, 1);
    const { session } = await client.call('worker.follow_up', {
      session: second,
      prompt: writeScript(`run echo $PWD >>${ledger}; cat early.txt`, 'edit late.txt more'),
    });
    const third = await awaitEnd(client, session.session_id);
    assert.equal(third.runner, 'r-1');
    assert.equal(new Set(readFileSync(ledger, 'utf8').trim().split('\n')).size, 1);
    assert.equal(ws.repository.git('show', `${third.branch}:late.txt`), 'more');
    await client.call('worktree.promote', { session: session.session_id });
    assert.equal(ws.repository.git('show', 'main:early.txt'), 'early');
  });

  it('is stopped with all of its processes', async () => {
    const pids = go('pids');
    const session = await start(`count ${pids}`, `detach ${pids}`, 'ignore-term', 'edit kept.txt x', 'hang');
    await until(() => existsSync(pids) && readFileSync(pids, 'utf8').split('\n').length === 3);
    await until(() => /hanging/.test(read(session)));
    await client.call('worker.kill', { session });
    const ended = await awaitEnd(client, session);
    assert.equal(ended.stop_reason, 'cancelled');
    for (const pid of readFileSync(pids, 'utf8').trim().split('\n'))
      assert.equal(isRunning(Number(pid)), false);
    assert.deepEqual(box.listWorkers(), []);
    assert.equal(ws.repository.git('show', `svc/${session}:kept.txt`), 'x');
  });
});

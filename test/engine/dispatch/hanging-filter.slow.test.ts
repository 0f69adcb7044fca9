import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('a session whose filter of git hangs', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  before(async () => {
    ws = await makeWorkspace();
    const { git } = ws.repository;
    writeFileSync(join(ws.root, '.gitattributes'), '*.bin filter=slow\n');
    writeFileSync(join(ws.root, 'a.bin'), 'x\n');
    setFilter('clean', 'cat');
    git('add', '.');
    git('commit', '-qm', 'a file with a filter');
    client = await ws.connect();
  });
  after(() => ws.close());

  const pids = () => join(ws.repository.folder, 'pids');
  const network = () => join(ws.repository.folder, 'network');
  const connectNetwork = () => writeFileSync(network(), '');
  const listFilters = () =>
    existsSync(pids())
      ? readFileSync(pids(), 'utf8').split('\n').filter(Boolean).map(Number).filter(isRunning)
      : [];
  function setFilter(way: 'clean' | 'smudge', command: string): void {
    ws.repository.git('config', `filter.slow.${way}`, command);
  }
  /** Waits for ever, as a filter that asks a network may do. */
  const writeHanging = (): string =>
    `if test -e '${network()}'; then exec cat; fi; echo $$ >> '${pids()}'; exec sleep 3600`;

  /** Starts a session that waits for its files, or whose work waits to be saved. */
  async function startHanging(where: 'checkout' | 'save' = 'checkout'): Promise<string> {
    rmSync(network(), { force: true });
    setFilter('smudge', where === 'checkout' ? writeHanging() : 'cat');
    const body =
      where === 'checkout' ? '#agent: edit a.txt x' : '#agent: run echo changed > a.bin\n#agent: no-change';
    const { task_id: id } = await client.call('task.add', { title: 'hangs', body });
    if (where === 'save') setFilter('clean', writeHanging());
    const { session_id: session } = await client.call('task.run', { id });
    await until(() => listFilters().length > 0, 'the filter');
    return session;
  }

  const awaitEnd = (session: string) =>
    until(
      async () => {
        const shown = await client.call('session.show', { session });
        return shown.state === 'ended' ? shown : null;
      },
      'the end of the session',
      90_000,
    );

  test('svc stop ends it with its filter, and leaves no worktree and no branch', async () => {
    const session = await startHanging();
    assert.equal((await ws.svc(['stop', session])).code, 0);
    const { state, failure } = await awaitEnd(session);
    assert.deepEqual([state, failure?.code], ['ended', 'cancelled']);
    assert.deepEqual(listFilters(), []);
    assert.equal(ws.repository.git('worktree', 'list').split('\n').length, 1);
    assert.equal(ws.repository.git('branch', '--list', 'svc/*'), '');
  });

  test('svc stop ends a session that waits for the checkout of another one', async () => {
    const hanging = await startHanging();
    const { task_id: id } = await client.call('task.add', { title: 'waits', body: '#agent: edit a.txt x' });
    const { session_id: waiting } = await client.call('task.run', { id });
    await until(
      async () => (await client.call('session.show', { session: waiting })).state === 'starting',
      'the start of the other one',
    );
    assert.equal((await ws.svc(['stop', waiting])).code, 0);
    assert.equal((await awaitEnd(waiting)).failure?.code, 'cancelled');
    assert.equal(listFilters().length, 1);
    assert.equal((await ws.svc(['stop', hanging])).code, 0);
    await awaitEnd(hanging);
    assert.equal(ws.repository.git('worktree', 'list').split('\n').length, 1);
    assert.equal(ws.repository.git('branch', '--list', 'svc/*'), '');
  });

  test('svc down ends it with its filter, and the next engine repeats the start', async () => {
    const session = await startHanging();
    client.close();
    const down = await ws.svc(['down', '--json']);
    assert.deepEqual([down.code, down.json<{ left: string[] }>().left], [0, []]);
    assert.deepEqual(listFilters(), []);
    connectNetwork();
    await ws.svc(['up']);
    client = await ws.connect();
    const { state, failure } = await awaitEnd(session);
    assert.deepEqual([state, failure], ['ended', null]);
  });

  test('an engine that was killed leaves no git and no filter once the next one has stopped', async () => {
    const session = await startHanging();
    client.close();
    await ws.killDaemon();
    await ws.svc(['up']);
    await ws.svc(['down']);
    assert.deepEqual(listFilters(), []);
    connectNetwork();
    await ws.svc(['up']);
    client = await ws.connect();
    const { failure } = await awaitEnd(session);
    assert.equal(failure, null);
  });

  test('svc stop ends it although its work cannot be saved, and its worktree keeps that', async () => {
    const session = await startHanging('save');
    assert.equal((await ws.svc(['stop', session])).code, 0);
    const { failure, worktree } = await awaitEnd(session);
    assert.equal(failure, null);
    assert.deepEqual(listFilters(), []);
    assert.equal(readFileSync(join(String(worktree), 'a.bin'), 'utf8'), 'changed\n');
    connectNetwork();
    const { stdout, stderr } = await ws.svc(['worktree', 'list']);
    assert.match(stdout + stderr, new RegExp(`${session}.*dirty`));
  });

  test('svc down does not wait for its work to be saved, and the next engine saves it', async () => {
    const session = await startHanging('save');
    client.close();
    const down = await ws.svc(['down']);
    assert.equal(down.code, 0);
    assert.deepEqual(listFilters(), []);
    connectNetwork();
    await ws.svc(['up']);
    client = await ws.connect();
    const { failure, branch } = await awaitEnd(session);
    assert.equal(failure, null);
    assert.equal(ws.repository.git('show', `${branch}:a.bin`), 'changed');
  });
});

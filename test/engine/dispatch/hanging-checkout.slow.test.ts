import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('a worktree whose filter hangs', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  before(async () => {
    ws = await makeWorkspace();
    const { git } = ws.repository;
    writeFileSync(join(ws.root, '.gitattributes'), '*.bin filter=slow\n');
    writeFileSync(join(ws.root, 'a.bin'), 'x\n');
    git('config', 'filter.slow.clean', 'cat');
    // Waits for ever, as a filter that asks a network may do.
    git('config', 'filter.slow.smudge', `echo $$ >> '${pids()}'; exec sleep 3600`);
    git('add', '.');
    git('commit', '-qm', 'a file with a filter');
    client = await ws.connect();
  });
  after(() => ws.close());

  const pids = () => join(ws.repository.folder, 'pids');
  const listFilters = () =>
    existsSync(pids())
      ? readFileSync(pids(), 'utf8').split('\n').filter(Boolean).map(Number).filter(isRunning)
      : [];
  async function startHanging(): Promise<string> {
    const { task_id: id } = await client.call('task.add', { title: 'hangs', body: '#agent: edit a.txt x' });
    const { session_id: session } = await client.call('task.run', { id });
    await until(() => listFilters().length > 0, 'the filter');
    return session;
  }

  test('svc stop ends it with its filter, and leaves no worktree and no branch', async () => {
    const session = await startHanging();
    assert.equal((await ws.svc(['stop', session])).code, 0);
    const { state, failure } = await until(async () => {
      const shown = await client.call('session.show', { session });
      return shown.state === 'ended' ? shown : null;
    }, 'the end of the session');
    assert.deepEqual([state, failure?.code], ['ended', 'cancelled']);
    assert.deepEqual(listFilters(), []);
    assert.equal(ws.repository.git('worktree', 'list').split('\n').length, 1);
    assert.equal(ws.repository.git('branch', '--list', 'svc/*'), '');
  });

  test('svc down ends it with its filter, and the next engine repeats the start', async () => {
    const session = await startHanging();
    client.close();
    const down = await ws.svc(['down', '--json']);
    assert.deepEqual([down.code, down.json<{ left: string[] }>().left], [0, []]);
    assert.deepEqual(listFilters(), []);
    ws.repository.git('config', 'filter.slow.smudge', 'cat');
    await ws.svc(['up']);
    client = await ws.connect();
    const { state, failure } = await until(async () => {
      const shown = await client.call('session.show', { session });
      return shown.state === 'ended' ? shown : null;
    }, 'the end of the session');
    assert.deepEqual([state, failure], ['ended', null]);
  });
});

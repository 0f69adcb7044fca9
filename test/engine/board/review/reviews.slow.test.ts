import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineClient, ListedSession, Task, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('git decides whether work still needs review', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  let made = 0;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
    client = await ws.connect();
  });
  after(() => ws.close());

  /** Runs a worker that changes its own file; returns its session. */
  async function ran(does?: string): Promise<string> {
    made += 1;
    const prompt = `#agent: ${does ?? `edit made-${made}.txt by the worker`}`;
    const added = await ws.svc(['task', 'add', '-p', prompt, '--run', '-f', '--json']);
    assert.equal(added.code, 0, added.stderr);
    return added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail();
  }

  async function rowOf(session: string): Promise<WireValue<ListedSession> | undefined> {
    return (await client.call('session.list', { ids: [session] }))[0];
  }
  const stateOf = async (session: string): Promise<string | null> =>
    (await rowOf(session))?.branch_state ?? null;

  async function follow(session: string): Promise<() => number> {
    let moves = 0;
    await client.subscribe<{ subscription: number }>('refs.follow', { session }, ({ method }) => {
      if (method === 'refs') moves += 1;
    });
    return () => moves;
  }

  test('a branch that is merged, reset, squashed or deleted by hand is noticed while someone looks', async () => {
    const [merged, squashed, deleted] = [await ran(), await ran(), await ran()];
    const moves = await follow(merged);
    assert.deepEqual(await Promise.all([merged, squashed, deleted].map(stateOf)), [null, null, null]);

    const before = ws.repository.git('rev-parse', 'main').trim();
    ws.repository.git('merge', '--quiet', '--no-edit', `svc/${merged}`);
    await until(async () => (await stateOf(merged)) === 'merged', 'that it is merged');
    await until(() => moves() > 0, 'that it was told of');
    ws.repository.git('reset', '--quiet', '--hard', before);
    await until(async () => (await stateOf(merged)) === null, 'that it waits again');

    ws.repository.git('merge', '--quiet', '--squash', `svc/${squashed}`);
    ws.repository.commit({}, 'squashed by hand');
    await until(async () => (await stateOf(squashed)) === 'merged', 'that it is merged');

    ws.repository.git('worktree', 'remove', '--force', requireLocalPath((await rowOf(deleted))?.worktree));
    ws.repository.git('branch', '-D', `svc/${deleted}`);
    await until(async () => (await stateOf(deleted)) === 'gone', 'that it is gone');
    assert.equal(await stateOf(merged), null, 'a merged session is not gone');
  });

  test('a branch that was pruned as merged is noticed, and so are changes while no engine ran', async () => {
    const [pruned, meanwhile] = [await ran(), await ran()];
    ws.repository.git('merge', '--quiet', '--no-edit', `svc/${pruned}`);
    assert.equal((await ws.svc(['worktree', 'prune', '--json'])).code, 0);
    assert.equal(await stateOf(pruned), 'merged');

    await ws.killDaemon();
    ws.repository.git('merge', '--quiet', '--no-edit', `svc/${meanwhile}`);
    await ws.svc(['up']);
    client = await ws.connect();
    await until(async () => (await stateOf(meanwhile)) === 'merged', 'what happened meanwhile');
    assert.equal(await stateOf(pruned), 'merged', 'merged, not gone');
  });

  test('an unreadable repository does not mean a missing branch', async () => {
    const session = await ran();
    const [git, aside] = [join(ws.repository.root, '.git'), join(ws.repository.folder, 'aside')];
    const moves = await follow(session);
    const before = moves();
    ws.repository.git('branch', 'something');
    await until(() => moves() > before, 'that it is watched');
    await ws.killDaemon();
    renameSync(git, aside);
    await ws.svc(['up']);
    client = await ws.connect();
    await client.call('engine.status');
    assert.equal(await stateOf(session), null);
    renameSync(aside, git);
    await follow(session);
    assert.equal(await stateOf(session), null);
  });

  test('unreadable work is not merged because its branch is where it started, and stays open', async () => {
    const session = await ran('run rm .git && git init --quiet && echo work > work.txt');
    const row = await rowOf(session);
    assert.deepEqual([row?.commits, row?.failure, row?.cwd === null], [null, null, false]);
    const moves = await follow(session);
    assert.equal(await stateOf(session), null);
    const before = moves();
    ws.repository.git('branch', 'beside');
    await until(() => moves() > before, 'that it was looked at again');
    assert.equal(await stateOf(session), null);

    ws.repository.git('update-ref', '-d', `refs/heads/svc/${session}`);
    await until(async () => (await stateOf(session)) === 'gone', 'that it is gone');
  });
});

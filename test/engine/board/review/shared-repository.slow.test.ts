import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Session, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

type Pruned = { entries: { branch: string; action: string }[]; removed: { branch: string }[] };

describe('two workspaces in one repository', () => {
  let ws: TestWorkspace;
  let first: EngineHere;
  let second: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    const root = join(ws.root, 'second');
    mkdirSync(root);
    writeFileSync(join(root, 'svc.yaml'), readFileSync(join(ws.root, 'svc.yaml')));
    first = await engineHere(ws);
    second = await engineHere({ ...ws, root });
  });
  after(async () => {
    await first?.close();
    await second?.close();
    await ws.close();
  });

  /** Runs a worker in a workspace until it ends; returns its session. */
  async function ran(where: EngineHere, prompt: string): Promise<WireValue<Session> & { branch: string }> {
    const { task_id } = await where.call('task.add', { body: prompt, agent: 'scripted' });
    await where.call('task.run', { id: task_id });
    return until(async () => {
      const { task, sessions } = await where.call('task.show', { id: task_id });
      const [session] = sessions;
      if (session?.state !== 'ended') return null;
      assert.equal(task.failure, null);
      assert.ok(session.branch);
      return { ...session, branch: session.branch };
    }, `the end of ${task_id}`);
  }
  const prune = async (where: EngineHere, input: object = {}): Promise<Pruned> => {
    const { repositories } = await where.call('worktree.prune', input);
    const [pruned, ...others] = repositories;
    assert.deepEqual(others, []);
    return pruned ?? assert.fail();
  };
  const branches = (): string[] =>
    ws.repository.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/svc/').split('\n');
  const merge = (branch: string) => ws.repository.git('merge', '--quiet', '--no-ff', '-m', 'merge', branch);

  test('two workspaces give their sessions separate branches, even while one has a merged or empty one of that number', async () => {
    const one = await ran(first, '#agent: no-change');
    const other = await ran(second, '#agent: edit other.txt from the second');
    assert.deepEqual([one.session_id, one.branch, other.session_id], ['s-1', 'svc/s-1', 's-1']);
    assert.match(other.branch, /^svc\/s-1-[0-9a-f]{4}$/);
    assert.ok(existsSync(requireLocalPath(one.worktree)), "the first one's worktree is unchanged");
  });

  test("each workspace prunes its own merged branches and leaves the other's, with or without a worktree", async () => {
    const mine = await ran(first, '#agent: edit mine.txt from the first');
    const theirs = await ran(second, '#agent: edit theirs.txt from the second');
    const bare = await ran(second, '#agent: edit bare.txt from the second too');
    for (const { branch } of [mine, theirs, bare]) merge(branch);
    // A branch without a worktree.
    ws.repository.git('worktree', 'remove', '--force', requireLocalPath(bare.worktree));
    const seen = (await prune(first, { dry_run: true })).entries.map((entry) => entry.branch).sort();
    assert.deepEqual(seen, ['svc/s-1', mine.branch]);

    const pruned = await prune(first);
    assert.deepEqual(pruned.removed.map((each) => each.branch).sort(), ['svc/s-1', mine.branch]);
    assert.ok(existsSync(requireLocalPath(theirs.worktree)));
    assert.deepEqual(
      [theirs.branch, bare.branch].filter((branch) => !branches().includes(branch)),
      [],
    );
    const others = await prune(second);
    assert.ok(others.removed.some((each) => each.branch === theirs.branch));
    assert.ok(others.removed.some((each) => each.branch === bare.branch));
    assert.equal(existsSync(requireLocalPath(theirs.worktree)), false);
  });

  test('a workspace does not claim a branch because one of its earlier branches had that name', async () => {
    for (let count = 0; count < 3; count += 1) await ran(first, '#agent: no-change');
    await prune(first);
    const again = await ran(second, '#agent: no-change');
    const known = await first.call('session.list');
    assert.ok(
      known.some((session) => session.branch === again.branch),
      'the branch name is in use in the first workspace',
    );
    const pruned = await prune(first);
    assert.equal(
      pruned.entries.some((entry) => entry.branch === again.branch),
      false,
    );
    assert.ok(existsSync(requireLocalPath(again.worktree)));
  });

  test('a workspace owns the worktrees in its folder, even when its data was recreated', async () => {
    const old = await ran(second, '#agent: no-change');
    await second.close();
    const data = join(ws.root, 'second', '.svc');
    for (const name of ['svc.db', 'svc.db-wal', 'svc.db-shm']) rmSync(join(data, name), { force: true });
    second = await engineHere({ ...ws, root: join(ws.root, 'second') });
    const pruned = await prune(second);
    assert.ok(pruned.removed.some((each) => each.branch === old.branch));
  });
});

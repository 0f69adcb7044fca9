import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCommittedCounter } from '../../../../../engine/workers/runner/runs/count-committed.ts';
import { createWorktrees } from '../../../../../engine/workers/runner/worktrees/index.ts';
import { gitEnvironment, makeRepository } from '../../../../support/workspaces/git.ts';

test('the commits of sessions are counted with one diff for each branch that has moved', async (t) => {
  const repository = makeRepository();
  t.after(repository.remove);
  const baseCommit = repository.git('rev-parse', 'HEAD');
  const worktrees = createWorktrees({ env: gitEnvironment() });
  const diffed: string[] = [];
  const count = createCommittedCounter({
    listSessionTips: worktrees.listSessionTips,
    countChanges(range) {
      diffed.push(range.to);
      return worktrees.countChanges(range);
    },
  });
  const orders = ['s-1', 's-2'].map((sessionId) => ({
    sessionId,
    repository: repository.root,
    branch: `svc/${sessionId}`,
    baseCommit,
  }));
  repository.git('checkout', '--quiet', '-b', 'svc/s-1');
  const first = repository.commit({ 'a.txt': 'one\ntwo\n' });
  const counted = { 's-1': { files: 1, insertions: 2, deletions: 0 } };
  assert.deepEqual(await count(orders), counted, 'a missing branch is left out');
  assert.deepEqual(await count(orders), counted);
  assert.deepEqual(diffed, [first]);
  const second = repository.commit({ 'a.txt': 'one\n', 'b.txt': 'three\n' });
  assert.deepEqual(await count(orders), { 's-1': { files: 2, insertions: 2, deletions: 0 } });
  assert.deepEqual(diffed, [first, second]);
  const elsewhere = { ...orders[0]!, sessionId: 's-9', repository: repository.folder };
  assert.deepEqual(Object.keys(await count([...orders, elsewhere])), ['s-1']);
});

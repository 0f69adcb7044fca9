import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../../../engine/core/base/errors.ts';
import {
  createWorktrees,
  PROMOTE_STRATEGIES,
  type PromoteResult,
  type PromoteStrategy,
  type Worktrees,
} from '../../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let path: string;
let promoted: PromoteResult;

const read = (name: string): string => readFileSync(join(repository.root, name), 'utf8');
const snapshot = () => ({
  refs: repository.git('for-each-ref'),
  status: repository.git('status', '--porcelain', '--branch', '-uall', '--ignored'),
  readme: read('README.md'),
});
const undo = (isUndoing = false) =>
  worktrees.undoPromotion({ repository: repository.root, branch: 'svc/s-1', ...promoted, isUndoing });

beforeEach(async () => {
  repository = makeRepository();
  worktrees = createWorktrees({ env: gitEnvironment() });
  const branch = 'svc/s-1';
  const worktreePath = join(repository.folder, 's-1');
  path = (
    await worktrees.create({
      repositoryPath: repository.root,
      worktreePath,
      branch,
      projectPath: repository.root,
    })
  ).path;
});
afterEach(() => repository.remove());

async function promote(strategy: PromoteStrategy): Promise<void> {
  repository.commit({ 'README.md': 'one\ntwo\nthree\nfour\n', 'a/new.txt': 'new\n' }, 'work', path);
  repository.gitIn(path, 'rm', '--quiet', 'app/main.txt');
  repository.commit({}, 'and a removal', path);
  repository.commit({ 'b.txt': 'b\n' }, 'of the base');
  const { root } = repository;
  promoted = await worktrees.promote({
    ...{ repository: root, branch: 'svc/s-1', base: 'main', strategy, title: 'Promote s-1' },
  });
  // As after a promotion, the worktree and branch are removed and the branch is saved.
  const plan = await worktrees.planPrune({ repository: root, keep: () => false, isOurs: () => true });
  await worktrees.prune(plan);
  assert.equal(repository.git('for-each-ref', 'refs/heads/svc/'), '');
}

for (const strategy of PROMOTE_STRATEGIES) {
  describe(`undoing a promotion by ${strategy}`, () => {
    test('undo restores base, checkout and branch, and leaves other changes unchanged', async () => {
      await promote(strategy);
      repository.write('b.txt', 'being edited\n');
      repository.write('staged.txt', 'staged\n');
      repository.git('add', 'staged.txt');
      repository.write('untracked.txt', 'untracked\n');
      assert.deepEqual(await undo(), { checkout: 'updated', missingLfs: [] });
      assert.equal(repository.git('rev-parse', 'main'), promoted.before);
      assert.equal(repository.git('rev-parse', 'svc/s-1'), promoted.head);
      assert.equal(repository.git('status', '--porcelain'), ' M b.txt\nA  staged.txt\n?? untracked.txt');
      assert.deepEqual(
        [read('README.md'), read('app/main.txt'), existsSync(join(repository.root, 'a'))],
        ['one\ntwo\nthree\n', 'start\n', false],
      );
      assert.equal(await worktrees.isMerged(repository.root, 'svc/s-1', 'main'), false);
    });

    test('undo is refused once the base has moved on, and nothing is changed', async () => {
      await promote(strategy);
      repository.commit({ 'c.txt': 'c\n' });
      const before = snapshot();
      await assert.rejects(undo(), (error: unknown) => {
        assert.ok(error instanceof SvcError);
        assert.deepEqual([error.code, /main has moved since/.test(error.message)], ['conflict', true]);
        return true;
      });
      assert.deepEqual(snapshot(), before);
    });

    test('undo is refused while files are in the way: changed ones, and untracked where removed ones were', async () => {
      await promote(strategy);
      repository.write('README.md', 'being edited\n');
      const before = snapshot();
      await assert.rejects(undo(), /has changes in README\.md; nothing was changed/);
      assert.deepEqual(snapshot(), before);
      repository.git('checkout', '--quiet', 'README.md');
      repository.write('.git/info/exclude', 'main.txt\n');
      repository.write('app/main.txt', 'mine and ignored\n');
      await assert.rejects(undo(), /has files in the way: app\/main\.txt/);
      assert.equal(read('app/main.txt'), 'mine and ignored\n');
      rmSync(join(repository.root, 'app/main.txt'));
      assert.deepEqual(await undo(), { checkout: 'updated', missingLfs: [] });
    });

    test('undo moves only the branch where the base is not checked out', async () => {
      await promote(strategy);
      repository.git('checkout', '--quiet', '--detach');
      assert.deepEqual(await undo(), { checkout: 'none', missingLfs: [] });
      assert.equal(repository.git('rev-parse', 'main'), promoted.before);
      assert.equal(repository.git('rev-parse', 'HEAD'), promoted.after);
    });
  });
}

describe('repeated and interrupted undos', () => {
  test('two simultaneous undos change one thing once, and a repeat changes nothing', async () => {
    await promote('merge');
    const answers = await Promise.allSettled([undo(), undo(true), undo(true)]);
    assert.ok(answers.every(({ status }) => status === 'fulfilled'));
    assert.equal(repository.git('rev-parse', 'main'), promoted.before);
    assert.equal(repository.git('status', '--porcelain'), '');
  });

  test('undo continues after an interruption: the base was restored, its checkout was not', async () => {
    await promote('merge');
    repository.git('update-ref', 'refs/heads/main', promoted.before);
    assert.notEqual(repository.git('status', '--porcelain'), '');
    assert.deepEqual(await undo(true), { checkout: 'updated', missingLfs: [] });
    assert.equal(repository.git('status', '--porcelain'), '');
    assert.equal(repository.git('rev-parse', 'svc/s-1'), promoted.head);
  });

  test('undo continues after an interruption although a person has committed since', async () => {
    await promote('merge');
    repository.git('reset', '--quiet', '--hard', promoted.before);
    const on = repository.commit({ 'c.txt': 'c\n' });
    await assert.rejects(undo(), /has moved since/);
    assert.deepEqual(await undo(true), { checkout: 'none', missingLfs: [] });
    assert.equal(repository.git('rev-parse', 'main'), on);
    assert.equal(repository.git('rev-parse', 'svc/s-1'), promoted.head);
  });

  test('undo keeps a branch that has moved on, and another one of that name', async () => {
    await promote('merge');
    const other = repository.git('commit-tree', 'main^{tree}', '-m', 'unrelated');
    repository.git('branch', 'svc/s-1', other);
    const before = snapshot();
    await assert.rejects(undo(), /a branch svc\/s-1 already/);
    assert.deepEqual(snapshot(), before);
    const onward = repository.git('commit-tree', 'main^{tree}', '-p', promoted.head, '-m', 'on');
    repository.git('update-ref', 'refs/heads/svc/s-1', onward);
    await undo();
    assert.deepEqual(
      [repository.git('rev-parse', 'svc/s-1'), repository.git('rev-parse', 'main')],
      [onward, promoted.before],
    );
  });
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../../engine/core/base/errors.ts';
import {
  createWorktrees,
  PROMOTE_STRATEGIES,
  type PromoteStrategy,
  type Worktrees,
} from '../../../../../engine/workers/runner/worktrees/index.ts';
import { gitEnvironment, makeRepository, type TestRepository } from '../../../../support/workspaces/git.ts';

describe('a base that has moved since the session started', () => {
  let repository: TestRepository;
  let worktrees: Worktrees;
  let path: string;
  let first: string;
  let baseCommit: string;

  beforeEach(async () => {
    repository = makeRepository();
    worktrees = createWorktrees({ env: gitEnvironment() });
    first = repository.git('rev-parse', 'main');
    repository.commit({ 'secret.txt': 'left in by mistake\n' }, 'a secret');
    repository.commit({ 'more.txt': 'more\n' }, 'more');
    const made = await worktrees.create({
      repositoryPath: repository.root,
      worktreePath: join(repository.folder, 's-1'),
      branch: 'svc/s-1',
      projectPath: repository.root,
    });
    ({ path, baseCommit } = made);
    repository.commit({ 'work.txt': 'work\n' }, 'work', path);
  });
  afterEach(() => repository.remove());

  const about = () => ({ repository: repository.root, branch: 'svc/s-1', base: 'main', baseCommit });
  const promote = (strategy: PromoteStrategy) =>
    worktrees.promote({ ...about(), strategy, title: 'Promote s-1' });
  const shown = async () => {
    const { commits, files } = await worktrees.diffBranch({ ...about(), into: 'main' });
    return [commits.map(({ subject }) => subject), files.map((file) => file.path)];
  };
  const refused = async (work: Promise<unknown>, text: RegExp, hint: RegExp): Promise<void> => {
    const before = repository.git('for-each-ref');
    const error = await work.then(
      () => assert.fail('it was not refused'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof SvcError);
    assert.equal(error.code, 'conflict', error.message);
    assert.match(error.message, text);
    assert.match(String(error.hint), hint);
    assert.equal(repository.git('for-each-ref'), before);
  };

  const movedBack: Record<string, () => void> = {
    'reset to an older commit': () => void repository.git('reset', '--quiet', '--hard', first),
    'reset, and gone on with': () => {
      repository.git('reset', '--quiet', '--hard', first);
      repository.commit({ 'other.txt': 'other\n' }, 'other');
    },
    amended: () => {
      repository.git('reset', '--quiet', '--hard', 'main~1');
      repository.git('rm', '--quiet', 'secret.txt');
      repository.git('commit', '--quiet', '--amend', '--allow-empty', '-m', 'no secret');
    },
    'deleted and made anew': () => {
      repository.git('checkout', '--quiet', '--detach');
      repository.git('branch', '--quiet', '-D', 'main');
      repository.git('checkout', '--quiet', '--orphan', 'main');
      repository.git('rm', '-r', '--quiet', '--force', '.');
      repository.commit({ 'new.txt': 'new\n' }, 'anew');
    },
  };

  for (const [how, move] of Object.entries(movedBack))
    test(`${how}: a merge is refused, a rebase takes the session's own commits, and the diff shows just those`, async () => {
      move();
      const before = repository.git('ls-tree', '-r', '--name-only', 'main').split('\n');
      assert.deepEqual(await shown(), [['work'], ['work.txt']]);
      const trial = await worktrees.tryPromotion(about());
      assert.deepEqual([trial.promotable, trial.refused?.code], [false, 'conflict']);
      for (const strategy of ['merge', 'squash'] as const)
        await refused(promote(strategy), /would bring \d commits? into main .* more/, /--strategy rebase/);
      assert.equal((await promote('rebase')).alreadyMerged, false);
      const files = repository.git('ls-tree', '-r', '--name-only', 'main').split('\n');
      assert.deepEqual(files, [...before, 'work.txt'].sort());
      assert.equal(existsSync(join(repository.root, 'secret.txt')), false);
      assert.throws(() => repository.git('merge-base', '--is-ancestor', baseCommit, 'main'));
    });

  test('a session without its own commits restores nothing', async () => {
    repository.gitIn(path, 'reset', '--quiet', '--hard', baseCommit);
    repository.git('reset', '--quiet', '--hard', first);
    for (const strategy of PROMOTE_STRATEGIES) {
      assert.equal((await promote(strategy)).alreadyMerged, true);
      assert.equal(repository.git('rev-parse', 'main'), first);
    }
    assert.equal((await worktrees.tryPromotion(about())).alreadyMerged, true);
  });

  test('a branch that its worker has rebased onto the current base is merged', async () => {
    repository.git('reset', '--quiet', '--hard', first);
    repository.gitIn(path, 'rebase', '--quiet', '--onto', 'main', baseCommit);
    assert.deepEqual(await shown(), [['work'], ['work.txt']]);
    assert.equal((await worktrees.tryPromotion(about())).promotable, true);
    await promote('merge');
    assert.equal(existsSync(join(repository.root, 'secret.txt')), false);
    assert.equal(existsSync(join(repository.root, 'work.txt')), true);
  });

  test('commits of the base that the worker merged are not shown as its work', async () => {
    repository.commit({ 'later.txt': 'later\n' }, 'later');
    repository.gitIn(path, 'merge', '--quiet', '--no-edit', 'main');
    assert.deepEqual((await shown())[1], ['work.txt']);
    await promote('merge');
  });

  test('a lost starting commit makes ownership unknown: merge and rebase are refused', async () => {
    repository.gitIn(path, 'reset', '--quiet', '--hard', 'main~1');
    repository.commit({ 'work.txt': 'work\n' }, 'work', path);
    repository.git('reset', '--quiet', '--hard', first);
    for (const cwd of [repository.root, path]) {
      repository.gitIn(cwd, 'update-ref', '-d', 'ORIG_HEAD');
      repository.gitIn(cwd, 'reflog', 'expire', '--expire=now', '--all');
    }
    repository.git('prune', '--expire=now');
    assert.throws(() => repository.git('cat-file', '-e', baseCommit));
    for (const strategy of PROMOTE_STRATEGIES)
      await refused(promote(strategy), /is no longer in the repository/, /git log main\.\.svc\/s-1/);
  });

  test('a base without a common commit is reported, with the next step', async () => {
    repository.gitIn(path, 'checkout', '--quiet', '--orphan', 'alone');
    const alone = repository.commit({ 'alone.txt': 'alone\n' }, 'alone', path);
    repository.gitIn(path, 'checkout', '--quiet', '--detach');
    repository.git('update-ref', 'refs/heads/svc/s-1', alone);
    const said = /no common commit/;
    await refused(promote('merge'), said, /--allow-unrelated-histories/);
    await refused(worktrees.tryPromotion(about()), said, /--allow-unrelated-histories/);
    const { worktrees: rows } = await worktrees.readStatus({ repository: repository.root });
    assert.deepEqual([rows[0]?.ahead, rows[0]?.behind, rows[0]?.merged], [1, 3, false]);
  });
});

import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../../../engine/core/base/errors.ts';
import {
  createWorktrees,
  PROMOTE_STRATEGIES,
  type PromoteRequest,
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

beforeEach(async () => {
  repository = makeRepository();
  worktrees = createWorktrees({ env: gitEnvironment() });
  path = (
    await worktrees.create({
      repositoryPath: repository.root,
      worktreePath: join(repository.folder, 's-1'),
      branch: 'svc/s-1',
      projectPath: repository.root,
    })
  ).path;
});
afterEach(() => repository.remove());

const work = (files: Record<string, string>, subject?: string): string =>
  repository.commit(files, subject, path);
const isMerged = () => worktrees.isMerged(repository.root, 'svc/s-1', 'main');
const promote = (strategy: PromoteStrategy = 'merge', base = 'main', more: Partial<PromoteRequest> = {}) =>
  worktrees.promote({
    repository: repository.root,
    branch: 'svc/s-1',
    base,
    strategy,
    title: 'Promote s-1',
    ...more,
  });
const fails = (code: string, paths?: string[]) => (error: unknown) => {
  assert.ok(error instanceof SvcError);
  assert.equal(error.code, code, error.message);
  if (paths) assert.deepEqual(error.data.paths, paths);
  return true;
};

/** Everything that a refusal must leave unchanged. */
const snapshot = () => ({
  refs: repository.git('for-each-ref'),
  status: repository.git('status', '--porcelain', '--branch', '-uall', '--ignored'),
  worktrees: repository.git('worktree', 'list', '--porcelain'),
  readme: readFileSync(join(repository.root, 'README.md'), 'utf8'),
});

describe('recognising merged work (R3)', () => {
  test('a branch without work counts as merged, and so does a merged one', async () => {
    assert.equal(await isMerged(), true);
    work({ 'a.txt': 'a\n' });
    assert.equal(await isMerged(), false);
    repository.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'svc/s-1');
    repository.commit({ 'b.txt': 'b\n' });
    assert.equal(await isMerged(), true);
    assert.equal(await worktrees.isMerged(repository.root, 'none', 'main'), false);
  });

  test('squashed work is recognised', async () => {
    work({ 'a.txt': 'a\n' });
    work({ 'README.md': 'one\n2\nthree\n' });
    repository.commit({ 'b.txt': 'b\n' });
    repository.git('merge', '--quiet', '--squash', 'svc/s-1');
    repository.git('commit', '--quiet', '-m', 'squashed');
    assert.equal(await isMerged(), true);
  });

  test('squashed work is recognised after a later change, when no tree matches', async () => {
    work({ 'a.txt': 'a\n' });
    work({ 'README.md': 'one\n2\nthree\n' });
    repository.git('merge', '--quiet', '--squash', 'svc/s-1');
    repository.commit({ 'other.txt': 'in the same commit\n' }, 'squashed');
    repository.commit({ 'a.txt': 'rewritten\n', 'README.md': 'rewritten\n' });
    assert.equal(await isMerged(), true);
  });

  test('rebased work is recognised after a later change', async () => {
    work({ 'a.txt': 'a\n' });
    work({ 'c.txt': 'c\n' });
    repository.commit({ 'b.txt': 'b\n' });
    repository.git('cherry-pick', 'svc/s-1~1', 'svc/s-1');
    repository.commit({ 'a.txt': 'rewritten\n', 'c.txt': 'rewritten\n' });
    assert.equal(await isMerged(), true);
  });

  test('work is not merged because the base has moved on elsewhere, but is when the branch has undone it', async () => {
    work({ 'a.txt': 'a\n' });
    repository.commit({ 'b.txt': 'b\n' });
    assert.equal(await isMerged(), false);
    repository.commit({ 'a.txt': 'of the base\n' });
    assert.equal(await isMerged(), false);
    repository.gitIn(path, 'rm', '--quiet', 'a.txt');
    work({}, 'undone');
    assert.equal(await isMerged(), true);
  });

  test('squashed work is recognised where the base has renamed the folder, which the merge follows', async () => {
    repository.git('config', 'merge.directoryRenames', 'true');
    work({ 'app/new.txt': 'new\n' });
    repository.git('mv', 'app', 'lib');
    repository.commit({}, 'renamed');
    repository.git('merge', '--quiet', '--squash', 'svc/s-1');
    repository.commit({}, 'squashed');
    assert.equal(existsSync(join(repository.root, 'lib/new.txt')), true);
    assert.equal(await isMerged(), true);
  });

  test('work with a missing part is not merged, nor are binary files with equal names only', async () => {
    work({ 'a.txt': 'a\n' });
    work({ 'c.txt': 'c\n' });
    repository.git('cherry-pick', 'svc/s-1~1');
    assert.equal(await isMerged(), false);
    work({ image: '\0one' });
    repository.commit({ 'a.txt': 'a\n', 'c.txt': 'c\n', image: '\0two' });
    assert.equal(await isMerged(), false);
  });

  test('a merge on the branch with its own changes is not merged', async () => {
    work({ 'a.txt': 'a\n' });
    const other = repository.commit({ 'b.txt': 'b\n' });
    repository.gitIn(path, 'merge', '--quiet', '--no-commit', other);
    work({ 'only-here.txt': 'x\n' }, 'merge with more');
    repository.git('cherry-pick', 'svc/s-1^1');
    assert.equal(await isMerged(), false);
  });

  test("the user's diff settings do not matter", async () => {
    for (const [name, value] of [
      ['diff.noprefix', 'true'],
      ['diff.context', '0'],
      ['diff.external', 'false'],
    ] as const) {
      repository.git('config', name, value);
    }
    work({ 'README.md': 'one\n2\nthree\n' });
    work({ 'a.txt': 'a\n' });
    repository.git('merge', '--quiet', '--squash', 'svc/s-1');
    repository.commit({}, 'squashed');
    repository.commit({ 'README.md': 'rewritten\n' });
    assert.equal(await isMerged(), true);
  });
});

for (const strategy of PROMOTE_STRATEGIES) {
  describe(`promoting by ${strategy}`, () => {
    test('promoting moves the base and its clean checkout', async () => {
      const tip = work({ 'a.txt': 'a\n' }, 'add a');
      const before = repository.commit({ 'b.txt': 'b\n' });
      const done = await promote(strategy);
      const after = repository.git('rev-parse', 'main');
      assert.deepEqual(done, {
        base: 'main',
        head: tip,
        before,
        after,
        strategy,
        alreadyMerged: false,
        sensitive: [],
        checkout: 'updated',
        missingLfs: [],
      });
      assert.equal(readFileSync(join(repository.root, 'a.txt'), 'utf8'), 'a\n');
      assert.equal(repository.git('status', '--porcelain'), '');
      assert.equal(repository.git('symbolic-ref', '--short', 'HEAD'), 'main');
      const parents = repository.git('log', '-1', '--format=%P', 'main');
      assert.equal(parents, strategy === 'merge' ? `${before} ${tip}` : before);
      assert.equal(
        repository.git('log', '-1', '--format=%s', 'main'),
        strategy === 'rebase' ? 'add a' : 'Promote s-1',
      );
      assert.equal(repository.git('rev-parse', 'svc/s-1'), tip);
      assert.equal(await isMerged(), true);
    });

    test('promoting moves a base that is checked out nowhere, and touches no checkout', async () => {
      work({ 'a.txt': 'a\n' });
      repository.git('checkout', '--quiet', '-b', 'elsewhere');
      repository.write('README.md', 'being edited\n');
      const done = await promote(strategy);
      assert.equal(done.checkout, 'none');
      assert.equal(repository.git('show', 'main:a.txt'), 'a');
      assert.equal(readFileSync(join(repository.root, 'README.md'), 'utf8'), 'being edited\n');
      assert.equal(existsSync(join(repository.root, 'a.txt')), false);
    });

    test('promoting with conflicts names the paths and changes nothing', async () => {
      work({ 'README.md': 'ours\n', 'fine.txt': 'x\n', 'app/main.txt': 'ours\n' });
      repository.commit({ 'README.md': 'theirs\n', 'app/main.txt': 'theirs\n' });
      const before = snapshot();
      await assert.rejects(promote(strategy), fails('promote_conflict', ['README.md', 'app/main.txt']));
      assert.deepEqual(snapshot(), before);
    });

    test('promoting twice, or a squashed branch, is already merged', async () => {
      work({ 'a.txt': 'a\n' });
      const { after } = await promote(strategy);
      const again = await promote(strategy);
      assert.deepEqual([again.alreadyMerged, again.before, again.after], [true, after, after]);
      work({ 'c.txt': 'c\n' });
      repository.commit({ 'c.txt': 'c\n' });
      const before = repository.git('rev-parse', 'main');
      const squashed = await promote(strategy);
      assert.deepEqual([squashed.alreadyMerged, repository.git('rev-parse', 'main')], [true, before]);
    });

    test('promoting is refused while the checkout has changes in the same files, staged or not', async () => {
      work({ 'a.txt': 'a\n', 'README.md': 'one\ntwo\nthree\nfour\n' });
      repository.write('README.md', 'being edited\n');
      const before = snapshot();
      await assert.rejects(promote(strategy), fails('checkout_dirty', ['README.md']));
      repository.git('add', 'README.md');
      await assert.rejects(promote(strategy), fails('checkout_dirty', ['README.md']));
      repository.git('reset', '--quiet');
      assert.deepEqual(snapshot(), before);
    });

    test('promoting leaves changes elsewhere in the checkout as they are, staged or not', async () => {
      repository.commit({ 'mine.txt': 'mine\n', 'gone.txt': 'gone\n', 'svc.yaml': 'a: 1\n' });
      work({ 'a.txt': 'a\n', 'README.md': 'one\ntwo\nthree\nfour\n' });
      repository.write('mine.txt', 'being edited\n');
      repository.write('svc.yaml', 'a: 2\n');
      repository.write('app/new.txt', 'new\n');
      repository.git('add', 'svc.yaml', 'app/new.txt');
      rmSync(join(repository.root, 'gone.txt'));
      const before = repository.git('status', '--porcelain');
      assert.equal((await promote(strategy)).checkout, 'updated');
      assert.equal(repository.git('status', '--porcelain'), before);
      const read = (name: string) => readFileSync(join(repository.root, name), 'utf8');
      assert.deepEqual(
        [read('mine.txt'), read('svc.yaml'), read('app/new.txt'), read('a.txt')],
        ['being edited\n', 'a: 2\n', 'new\n', 'a\n'],
      );
      assert.equal(await isMerged(), true);
    });

    test('promoting is refused where a changed file replaces a folder, or the reverse', async () => {
      work({ 'docs/a.txt': 'a\n', 'other.txt': 'a\n' });
      repository.write('docs', 'mine\n');
      repository.git('add', 'docs');
      const before = snapshot();
      await assert.rejects(promote(strategy), fails('checkout_dirty', ['docs']));
      assert.deepEqual(snapshot(), before);
      repository.git('rm', '--quiet', '--force', 'docs');
      repository.write('other.txt/mine.txt', 'mine\n');
      repository.git('add', 'other.txt');
      await assert.rejects(promote(strategy), fails('checkout_dirty', ['other.txt/mine.txt']));
      repository.git('rm', '--quiet', '--force', 'other.txt/mine.txt');
      assert.equal((await promote(strategy)).checkout, 'updated');
    });

    test('promoting is refused when untracked or ignored files are in the way, and these stay unchanged', async () => {
      work({ 'a.txt': 'a\n', 'b.log': 'b\n' });
      repository.write('a.txt', 'mine\n');
      repository.write('harmless.txt', 'mine\n');
      const before = snapshot();
      await assert.rejects(promote(strategy), fails('checkout_dirty', ['a.txt']));
      assert.deepEqual(snapshot(), before);
      assert.equal(readFileSync(join(repository.root, 'a.txt'), 'utf8'), 'mine\n');
      rmSync(join(repository.root, 'a.txt'));
      repository.write('.git/info/exclude', '*.log\n');
      repository.write('b.log', 'ignored but mine\n');
      await assert.rejects(promote(strategy), fails('checkout_dirty', ['b.log']));
      assert.equal(readFileSync(join(repository.root, 'b.log'), 'utf8'), 'ignored but mine\n');
      rmSync(join(repository.root, 'b.log'));
      assert.equal((await promote(strategy)).checkout, 'updated');
      assert.equal(readFileSync(join(repository.root, 'harmless.txt'), 'utf8'), 'mine\n');
    });
  });
}

describe('the commits that a promotion makes', () => {
  const message = (commit = 'main') => repository.git('log', '-1', '--format=%B', commit).trimEnd();
  const subjects = () => repository.git('log', '--reverse', '--format=%s', 'main').split('\n');
  const WIP = 'svc: work in progress of s-1 (t-1)';

  test('a squash makes one commit by the person, with the title, the subjects and the co-authors', async () => {
    repository.git('config', 'user.name', 'Ada');
    repository.git('config', 'user.email', 'ada@example.test');
    const ada = 'Co-authored-by: Bo <bo@example.test>';
    work({ 'a.txt': 'a\n' }, `add a\n\nText that stays there.\n\n${ada}\nSigned-off-by: X <x@example.test>`);
    work({ 'b.txt': 'b\n' }, `fixup! add a\n\n${ada}`);
    work({ 'c.txt': 'c\n' }, WIP);
    work({ 'd.txt': 'd\n' }, 'Fix the login');
    work({ 'e.txt': 'e\n' }, 'add \u001f e');
    const before = repository.commit({ 'base.txt': 'x\n' }, 'of the base');
    const { after } = await promote('squash', 'main', {
      title: 'Fix the login',
      trailers: ['Refs acme/shop#12'],
    });
    assert.equal(repository.git('log', '-1', '--format=%P', after), before);
    assert.equal(repository.git('log', '-1', '--format=%an <%ae> %cn', after), 'Ada <ada@example.test> Ada');
    assert.equal(message(after), `Fix the login\n\n- add a\n- add \\x1f e\n\nRefs acme/shop#12\n${ada}`);
    assert.equal(repository.git('ls-tree', '--name-only', 'main', 'a.txt', 'e.txt'), 'a.txt\ne.txt');
  });

  test('a squash of work that a worker never committed has only the title', async () => {
    work({ 'a.txt': 'a\n' }, WIP);
    work({ 'b.txt': 'b\n' }, WIP);
    await promote('squash');
    assert.equal(message(), 'Promote s-1');
  });

  test('a squash lists at most 50 subjects, and counts the rest', async () => {
    for (let at = 1; at <= 52; at += 1)
      repository.gitIn(path, 'commit', '--quiet', '--allow-empty', '-m', `step ${at}`);
    work({ 'a.txt': 'a\n' }, 'step 53');
    await promote('squash');
    const lines = message().split('\n');
    assert.deepEqual(lines.slice(-2), ['- step 50', '- and 3 more']);
  });

  for (const strategy of ['merge', 'squash'] as const)
    test(`a written message is the whole message of the commit of a ${strategy}`, async () => {
      work({ 'a.txt': 'a\n' }, 'add a');
      await promote(strategy, 'main', { message: '# Mine\n\nWhy.', trailers: ['Refs acme/shop#12'] });
      assert.equal(message(), '# Mine\n\nWhy.');
    });

  test('a rebase names what a worker did not commit after the title, and keeps all else', async () => {
    const base = repository.git('rev-parse', 'main');
    const first = work({ 'a.txt': 'a\n' }, 'add a');
    work({ 'b.txt': 'b\n' }, WIP);
    work({ 'c.txt': 'ä\n' }, 'Größe\n\n# not a comment\n\nKey: value');
    const shape = (range: string) =>
      repository.git('log', '--reverse', '--format=%T %an <%ae> %ad', '--date=raw', range);
    const before = shape('main..svc/s-1');
    const last = message('svc/s-1');
    await promote('rebase');
    assert.equal(shape('main~3..main'), before);
    assert.notEqual(repository.git('rev-parse', 'main~2'), first);
    assert.equal(repository.git('merge-base', 'main', 'svc/s-1'), base, 'all of its work is still its own');
    assert.deepEqual(subjects().slice(-3), ['add a', 'Promote s-1', 'Größe']);
    assert.equal(message(), last);
    repository.commit({ 'a.txt': 'rewritten\n', 'b.txt': 'rewritten\n' });
    assert.equal(await isMerged(), true);
    assert.equal((await promote('rebase')).alreadyMerged, true);
  });

  test('a rebase onto a base that has moved names it after the title too', async () => {
    work({ 'a.txt': 'a\n' }, WIP);
    repository.commit({ 'b.txt': 'b\n' }, 'of the base');
    await promote('rebase');
    assert.deepEqual(subjects().slice(-2), ['of the base', 'Promote s-1']);
  });

  test('a merge keeps the commits of a worker as they are', async () => {
    work({ 'a.txt': 'a\n' }, 'add a');
    const tip = work({ 'b.txt': 'b\n' }, 'svc: work on b');
    await promote('merge');
    assert.equal(repository.git('rev-parse', 'main^2'), tip);
    assert.equal(message(), 'Promote s-1');
  });

  test('a merge names what a worker did not commit after the title, also behind a merge of the base', async () => {
    const first = work({ 'a.txt': 'a\n' }, 'add a');
    work({ 'b.txt': 'b\n' }, WIP);
    const moved = repository.commit({ 'README.md': 'of the base\n' }, 'of the base');
    repository.gitIn(path, 'merge', '--quiet', '-m', 'take the base', 'main');
    work({ 'c.txt': 'ä\n' }, 'Größe\n\n# not a comment\n\nKey: value');
    work({ 'd.txt': 'd\n' }, WIP);
    const shape = (range: string) =>
      repository.git('log', '--reverse', '--topo-order', '--format=%T %an <%ae> %ad', '--date=raw', range);
    const [before, tip] = [shape('main..svc/s-1'), repository.git('rev-parse', 'svc/s-1')];
    const { head } = await promote('merge', 'main', { message: 'Merge it' });
    assert.deepEqual([head, repository.git('rev-parse', 'svc/s-1')], [tip, tip], 'the branch stays');
    assert.equal(shape('main^1..main^2'), before);
    assert.equal(repository.git('rev-parse', 'main^1'), moved);
    assert.equal(repository.git('rev-parse', 'main^2~2^2'), moved, 'a merge stays a merge');
    assert.notEqual(repository.git('rev-parse', 'main^2~2^1^1'), first);
    assert.equal(repository.git('merge-base', 'main', 'svc/s-1'), moved, 'all of its work is still its own');
    assert.deepEqual(
      repository.git('log', '--reverse', '--topo-order', '--format=%s', 'main^1..main').split('\n'),
      ['add a', 'Promote s-1', 'take the base', 'Größe', 'Promote s-1', 'Merge it'],
    );
    assert.equal(message('main^2~1'), 'Größe\n\n# not a comment\n\nKey: value');
    assert.doesNotMatch(repository.git('log', '--format=%B', 'main'), /work in progress/);
    assert.equal(repository.git('ls-tree', '--name-only', 'main', 'd.txt'), 'd.txt');
    assert.equal(await isMerged(), true);
    assert.equal((await promote('merge')).alreadyMerged, true);
  });

  test('a merge that named commits is known as merged after later changes to the same lines', async () => {
    work({ 'a.txt': 'a\n' }, WIP);
    work({ 'b.txt': 'b\n' }, 'add b');
    await promote('merge');
    repository.commit({ 'a.txt': 'rewritten\n', 'b.txt': 'rewritten\n' });
    assert.equal(await isMerged(), true);
  });

  test('work that follows a merge of the same branch is merged too, and the branch needs no new one', async () => {
    work({ 'a.txt': 'a\n' }, WIP);
    await promote('merge');
    work({ 'b.txt': 'b\n' }, 'more');
    const { alreadyMerged } = await promote('merge');
    assert.equal(alreadyMerged, false);
    assert.equal(repository.git('ls-tree', '--name-only', 'main', 'a.txt', 'b.txt'), 'a.txt\nb.txt');
    assert.doesNotMatch(repository.git('log', '--format=%B', 'main'), /work in progress/);
  });

  test('squashed work is already merged after later changes to the same lines, which would conflict', async () => {
    work({ 'README.md': 'one\n2\nthree\n' });
    work({ 'a.txt': 'a\n' });
    await promote('squash');
    const after = repository.commit({ 'README.md': 'one\nlater\nthree\n', 'a.txt': 'later\n' });
    const again = await promote('squash');
    assert.deepEqual([again.alreadyMerged, again.after], [true, after]);
  });
});

describe('promoting in unusual states', () => {
  test('promoting is refused in the middle of a merge, and of a rebase of the base', async () => {
    work({ 'a.txt': 'a\n' });
    repository.git('branch', 'other');
    repository.commit({ 'b.txt': 'b\n' });
    repository.git('checkout', '--quiet', 'other');
    repository.commit({ 'README.md': 'other\n' });
    repository.git('checkout', '--quiet', 'main');
    repository.git('merge', '--quiet', '--no-commit', '--no-ff', 'other');
    await assert.rejects(promote(), fails('checkout_dirty'));
    repository.git('merge', '--abort');
    repository.commit({ 'README.md': 'main\n' });
    assert.throws(() => repository.git('rebase', '--quiet', 'other'));
    const before = snapshot();
    await assert.rejects(promote(), fails('checkout_dirty'));
    assert.deepEqual(snapshot(), before);
  });

  test('promoting is refused while files of the checkout have conflicts without a running merge', async () => {
    repository.commit({ 'mine.txt': 'one\n' });
    repository.write('mine.txt', 'two\n');
    repository.git('stash', '--quiet');
    repository.commit({ 'mine.txt': 'three\n' });
    assert.throws(() => repository.git('stash', 'pop', '--quiet'));
    work({ 'a.txt': 'a\n' });
    const before = snapshot();
    await assert.rejects(promote(), fails('checkout_dirty', ['mine.txt']));
    assert.deepEqual(snapshot(), before);
  });

  test('promoting into a base that moves at the same time is a conflict, and nothing is overwritten', async () => {
    work({ 'a.txt': 'a\n' });
    repository.git('checkout', '--quiet', '--detach');
    const pending = promote('rebase');
    // The rebase takes several processes; the base moves before it ends.
    const moved = repository.git('commit-tree', 'main^{tree}', '-p', 'main', '-m', 'meanwhile');
    repository.git('update-ref', 'refs/heads/main', moved);
    const [answer] = await Promise.allSettled([pending]);
    if (answer.status === 'rejected') fails('conflict')(answer.reason);
    else repository.git('merge-base', '--is-ancestor', moved, answer.value.after);
    repository.git('merge-base', '--is-ancestor', moved, 'main');
  });

  test("promoting without a configured name uses svc's own", async () => {
    work({ 'a.txt': 'a\n' });
    await promote();
    assert.equal(repository.git('log', '-1', '--format=%an <%ae>', 'main'), 'svc <svc@localhost>');
  });

  test('promoting runs no hooks of the repository', async () => {
    work({ 'a.txt': 'a\n' });
    for (const hook of ['post-merge', 'pre-rebase', 'post-checkout', 'reference-transaction']) {
      repository.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch '${repository.folder}/hooked'\n`);
      chmodSync(join(repository.root, '.git/hooks', hook), 0o700);
    }
    await promote('rebase');
    assert.equal(existsSync(join(repository.folder, 'hooked')), false);
  });

  test('promoting leaves no temporary worktree, not even one of a killed host', async () => {
    work({ 'a.txt': 'a\n' });
    const left = join(repository.folder, 'svc-rebase-killed', 'checkout');
    repository.git('worktree', 'add', '--quiet', '--detach', left, 'main');
    writeFileSync(join(left, 'half.txt'), 'half');
    await promote('rebase');
    assert.equal(existsSync(left), false);
    assert.equal(repository.git('worktree', 'list').split('\n').length, 2);
  });

  test('an unknown branch or base is not found', async () => {
    await assert.rejects(promote('merge', 'none'), fails('not_found'));
  });
});

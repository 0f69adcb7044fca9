import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  type CreatedWorktree,
  createWorktrees,
  type Worktrees,
} from '../../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let made: CreatedWorktree;

beforeEach(async () => {
  repository = makeRepository();
  worktrees = createWorktrees({ env: gitEnvironment() });
  made = await worktrees.create({
    repositoryPath: repository.root,
    worktreePath: join(repository.folder, 's-1'),
    branch: 'svc/s-1',
    projectPath: repository.root,
  });
});
afterEach(() => repository.remove());

const finish = () =>
  worktrees.finish({
    path: made.path,
    branch: 'svc/s-1',
    baseCommit: made.baseCommit,
    message: 'wip of s-1',
    repository: repository.root,
  });
const inWorktree = (...args: string[]): string => repository.gitIn(made.path, ...args);
const write = (path: string, text: string): void => repository.write(join(made.path, path), text);
const commit = (files: Record<string, string>, subject?: string): string =>
  repository.commit(files, subject, made.path);
const show = (revision: string): string => repository.git('show', revision);
/** For cases in which git must stop at a conflict. */
const stops = (...args: string[]): void => assert.throws(() => inWorktree(...args));

describe('the end of a session', () => {
  test('a session without changes ends at its base', async () => {
    const end = await finish();
    const { baseCommit } = made;
    assert.deepEqual(end, {
      commits: 0,
      head: baseCommit,
      files: 0,
      insertions: 0,
      deletions: 0,
      wip: false,
      savedRefs: [],
      nested: [],
      hidden: [],
      operation: null,
    });
  });

  test('the end counts the commits and the changes since the base', async () => {
    commit({ 'a.txt': '1\n2\n', 'README.md': 'one\ntwo\n' });
    const head = commit({ binary: '\0\x01\x02' });
    const end = await finish();
    assert.deepEqual(
      [end.commits, end.head, end.files, end.insertions, end.deletions, end.wip],
      [2, head, 3, 2, 1, false],
    );
  });

  test('dirty work is committed as work in progress: changed, deleted, staged and untracked, not ignored', async () => {
    commit({ '.gitignore': '*.log\n', 'gone.txt': 'x\n' });
    write('README.md', 'changed\n');
    write('new/deep file.txt', 'new\n');
    write('staged.txt', 'staged\n');
    inWorktree('add', 'staged.txt');
    rmSync(join(made.path, 'gone.txt'));
    write('noise.log', 'noise\n');
    write('.svc/MEMORY_BRIEF.md', 'brief\n');
    const end = await finish();
    assert.equal(end.wip, true);
    assert.equal(end.commits, 2);
    assert.equal(repository.git('log', '-1', '--format=%s', 'svc/s-1'), 'wip of s-1');
    const files = repository.git('ls-tree', '-r', '--name-only', '-z', 'svc/s-1').split('\0').filter(Boolean);
    assert.deepEqual(files, ['.gitignore', 'README.md', 'app/main.txt', 'new/deep file.txt', 'staged.txt']);
    assert.equal(inWorktree('status', '--porcelain'), '');
    assert.equal(inWorktree('symbolic-ref', 'HEAD'), 'refs/heads/svc/s-1');
    assert.deepEqual((await finish()).wip, false, 'a second call finds nothing');
  });

  test("work is committed without a configured name, and with the user's where there is one", async () => {
    write('a.txt', 'a');
    await finish();
    assert.equal(
      repository.git('log', '-1', '--format=%an <%ae> %cn <%ce>', 'svc/s-1'),
      'svc <svc@localhost> svc <svc@localhost>',
    );
    repository.git('config', 'user.name', 'Somebody');
    repository.git('config', 'user.email', 'somebody@example.test');
    repository.git('config', 'user.useConfigOnly', 'true');
    write('b.txt', 'b');
    await finish();
    assert.equal(
      repository.git('log', '-1', '--format=%an <%ae>', 'svc/s-1'),
      'Somebody <somebody@example.test>',
    );
  });

  test('work is committed past hooks that refuse and signing that prompts', async () => {
    for (const hook of ['pre-commit', 'commit-msg', 'reference-transaction']) {
      repository.write(`.git/hooks/${hook}`, '#!/bin/sh\nexit 1\n');
      chmodSync(join(repository.root, '.git/hooks', hook), 0o700);
    }
    repository.git('config', 'commit.gpgSign', 'true');
    repository.git('config', 'gpg.program', 'false');
    write('a.txt', 'a');
    const end = await finish();
    assert.deepEqual([end.wip, end.unsafe], [true, undefined]);
  });
});

describe("commits outside the session's branch are not lost", () => {
  test('commits on a detached HEAD ahead of the branch move the branch forward', async () => {
    inWorktree('checkout', '--quiet', '--detach');
    commit({ 'a.txt': 'a\n' });
    write('b.txt', 'b\n');
    const end = await finish();
    assert.deepEqual([end.commits, end.wip, end.savedRefs], [2, true, []]);
    assert.equal(show('svc/s-1:b.txt'), 'b');
    assert.equal(inWorktree('symbolic-ref', 'HEAD'), 'refs/heads/svc/s-1');
    assert.equal(inWorktree('status', '--porcelain'), '');
  });

  test('commits on a detached HEAD that has left the branch are held by a ref', async () => {
    const own = commit({ 'own.txt': 'own\n' });
    inWorktree('checkout', '--quiet', '--detach', 'main');
    commit({ 'aside.txt': 'aside\n' });
    write('dirty.txt', 'dirty\n');
    const end = await finish();
    assert.deepEqual(end.savedRefs, ['refs/svc/s-1/head']);
    assert.equal(end.head, own);
    assert.equal(end.commits, 3);
    assert.equal(show('refs/svc/s-1/head:dirty.txt'), 'dirty');
    assert.equal(show('refs/svc/s-1/head:aside.txt'), 'aside');
    // An end that is unrelated to the first one gets a separate ref.
    inWorktree('checkout', '--quiet', '--detach', 'main');
    commit({ 'third.txt': 'third\n' });
    const again = await finish();
    assert.match(again.savedRefs[0] ?? '', /^refs\/svc\/s-1\/head-[0-9a-f]{12}$/);
    assert.equal(show('refs/svc/s-1/head:aside.txt'), 'aside');
  });

  test('commits on another branch leave that branch where the agent left it', async () => {
    inWorktree('checkout', '--quiet', '-b', 'feature');
    const feature = commit({ 'a.txt': 'a\n' });
    write('dirty.txt', 'dirty\n');
    const end = await finish();
    assert.deepEqual([end.commits, end.savedRefs], [2, []]);
    assert.equal(repository.git('rev-parse', 'feature'), feature);
    assert.equal(show('svc/s-1:dirty.txt'), 'dirty');
    assert.equal(inWorktree('status', '--porcelain'), '');
  });

  test("commits are kept when the session's branch was deleted, or restarted without a parent", async () => {
    inWorktree('checkout', '--quiet', '--detach');
    repository.git('branch', '-D', 'svc/s-1');
    commit({ 'a.txt': 'a\n' });
    assert.equal((await finish()).commits, 1);
    assert.equal(show('svc/s-1:a.txt'), 'a');
    inWorktree('checkout', '--quiet', '--orphan', 'fresh');
    inWorktree('rm', '-rfq', '.');
    write('fresh.txt', 'fresh\n');
    const end = await finish();
    assert.deepEqual(end.savedRefs, ['refs/svc/s-1/head']);
    assert.equal(show('refs/svc/s-1/head:fresh.txt'), 'fresh');
    assert.equal(show('svc/s-1:a.txt'), 'a');
  });
});

describe('any state that the worker left', () => {
  test('a merge stopped at conflicts is saved, without claiming to be the merge', async () => {
    const theirs = repository.commit({ 'README.md': 'theirs\n' });
    commit({ 'README.md': 'ours\n' });
    stops('merge', 'main');
    write('extra.txt', 'extra\n');
    const end = await finish();
    assert.deepEqual([end.wip, end.operation, end.unsafe], [true, 'merge', undefined]);
    assert.match(show('svc/s-1:README.md'), /<<<<<<<[\s\S]*ours[\s\S]*theirs/);
    assert.equal(show('svc/s-1:extra.txt'), 'extra');
    assert.throws(() => repository.git('merge-base', '--is-ancestor', theirs, 'svc/s-1'));
  });

  test('the other side of an unfinished merge is held by a ref when nothing else holds it', async () => {
    inWorktree('checkout', '--quiet', '--detach', 'main');
    const loose = commit({ 'README.md': 'loose\n' });
    inWorktree('checkout', '--quiet', 'svc/s-1');
    commit({ 'README.md': 'ours\n' });
    stops('merge', loose);
    const end = await finish();
    assert.deepEqual(end.savedRefs, ['refs/svc/s-1/merge-head']);
    assert.equal(repository.git('rev-parse', 'refs/svc/s-1/merge-head'), loose);
  });

  test('a rebase stopped at conflicts: the branch keeps its commits, a ref holds the rest', async () => {
    repository.commit({ 'README.md': 'theirs\n' });
    commit({ 'first.txt': 'first\n' });
    const own = commit({ 'README.md': 'ours\n' });
    stops('rebase', 'main');
    const end = await finish();
    assert.deepEqual([end.operation, end.head, end.savedRefs], ['rebase', own, ['refs/svc/s-1/head']]);
    assert.match(show('refs/svc/s-1/head:README.md'), /theirs/);
    assert.equal(show('refs/svc/s-1/head:first.txt'), 'first');
  });

  test('locks of a dead git do not stop it, and are removed', async () => {
    const gitDir = inWorktree('rev-parse', '--absolute-git-dir');
    const locks = [
      join(gitDir, 'index.lock'),
      join(gitDir, 'HEAD.lock'),
      join(repository.root, '.git/refs/heads/svc/s-1.lock'),
    ];
    for (const lock of locks) writeFileSync(lock, '');
    write('a.txt', 'a\n');
    const end = await finish();
    assert.deepEqual([end.wip, end.unsafe], [true, undefined]);
    assert.deepEqual(
      locks.filter((lock) => existsSync(lock)),
      [],
    );
  });

  test('a damaged or missing index does not stop the end', async () => {
    const gitDir = inWorktree('rev-parse', '--absolute-git-dir');
    for (const [name, spoil] of [
      ['damaged', () => writeFileSync(join(gitDir, 'index'), 'nonsense')],
      ['missing', () => rmSync(join(gitDir, 'index'))],
    ] as const) {
      spoil();
      write(`${name}.txt`, `${name}\n`);
      const end = await finish();
      assert.deepEqual([end.wip, end.unsafe], [true, undefined], name);
      assert.equal(show(`svc/s-1:${name}.txt`), name);
      assert.equal(show('svc/s-1:README.md'), 'one\ntwo\nthree');
      assert.equal(inWorktree('status', '--porcelain'), '');
    }
  });

  test('nested repositories are named, and everything around them is saved', async () => {
    commit({ '.gitignore': 'out/\ncache/*\n', 'out/tracked.txt': 'x\n' });
    for (const name of ['unborn', 'with-commit', 'deep/er', 'out/hidden', 'out/far/below', 'cache/one']) {
      mkdirSync(join(made.path, name), { recursive: true });
      repository.gitIn(join(made.path, name), 'init', '--quiet');
      writeFileSync(join(made.path, name, 'inner.txt'), 'inner');
    }
    repository.commit({ 'inner.txt': 'inner' }, 'inner', join(made.path, 'with-commit'));
    write('deep/beside.txt', 'beside\n');
    const end = await finish();
    assert.deepEqual(end.nested, [
      'cache/one',
      'deep/er',
      'out/far/below',
      'out/hidden',
      'unborn',
      'with-commit',
    ]);
    assert.deepEqual([end.wip, end.unsafe], [true, undefined]);
    const files = repository.git('ls-tree', '-r', '--name-only', 'svc/s-1').split('\n');
    assert.deepEqual(files, [
      '.gitignore',
      'README.md',
      'app/main.txt',
      'deep/beside.txt',
      'out/tracked.txt',
    ]);
    const again = await finish();
    assert.deepEqual([again.wip, again.head, again.nested], [false, end.head, end.nested]);
  });

  test('a repository that the agent has committed as a link is still named', async () => {
    const inner = join(made.path, 'inner');
    mkdirSync(inner);
    repository.gitIn(inner, 'init', '--quiet');
    repository.commit({ 'x.txt': 'x' }, 'x', inner);
    inWorktree('add', 'inner');
    inWorktree('commit', '--quiet', '-m', 'link');
    assert.deepEqual((await finish()).nested, ['inner']);
  });

  test('a file that git cannot add is reported, and the others are saved', async () => {
    repository.git('config', 'filter.broken.clean', 'false');
    repository.git('config', 'filter.broken.required', 'true');
    write('.gitattributes', '*.bad filter=broken\n');
    write('one.bad', 'x\n');
    write('README.md', 'changed\n');
    write('new.txt', 'new\n');
    const end = await finish();
    assert.match(end.unsafe ?? '', /one\.bad/);
    assert.equal(end.wip, true);
    assert.equal(show('svc/s-1:README.md'), 'changed');
    assert.equal(show('svc/s-1:new.txt'), 'new');
    assert.equal(existsSync(join(made.path, 'one.bad')), true);
  });

  test('an unreadable file is reported', {
    skip: process.getuid?.() === 0 && 'root may read everything',
  }, async () => {
    write('secret.txt', 'x\n');
    chmodSync(join(made.path, 'secret.txt'), 0);
    write('new.txt', 'new\n');
    const end = await finish();
    assert.match(end.unsafe ?? '', /secret\.txt/);
    assert.equal(show('svc/s-1:new.txt'), 'new');
  });

  test('names with newlines, quotes and stars are taken literally', async () => {
    for (const name of ['a\nb', '"q"', '*', ':(top)x', '-n', 'ü']) write(name, `${name}\n`);
    const end = await finish();
    assert.deepEqual([end.files, end.unsafe], [6, undefined]);
  });
});

describe('the diff of a session', () => {
  test('the diff names commits, files and a bounded patch', async () => {
    commit({ 'a.txt': 'a\n'.repeat(1000) }, 'first of two');
    const head = commit({ 'README.md': 'one\n' }, 'second of two');
    const { repository: root, baseCommit } = made;
    const diff = await worktrees.diffBranch({ repository: root, branch: 'svc/s-1', baseCommit });
    assert.deepEqual(
      diff.commits.map((one) => [one.subject, one.author]),
      [
        ['second of two', 'Test Person'],
        ['first of two', 'Test Person'],
      ],
    );
    assert.equal(diff.commits[0]?.id, head);
    assert.match(diff.commits[0]?.at ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(diff.files, [
      { path: 'README.md', insertions: 0, deletions: 2 },
      { path: 'a.txt', insertions: 1000, deletions: 0 },
    ]);
    const short = await diff.patch(500);
    assert.ok(short.truncated && short.text.length <= 500 && short.text.endsWith('\n'));
    const whole = await diff.patch(1 << 20);
    assert.equal(whole.truncated, false);
    execFileSync('git', ['apply', '--check', '-'], { cwd: repository.root, input: whole.text });
    assert.deepEqual((await worktrees.diffBranch({ repository: root, head, baseCommit })).files, diff.files);
    await assert.rejects(worktrees.diffBranch({ repository: root, branch: 'none', baseCommit }));
  });
});

describe('traps for git that a worker has left', () => {
  test("the end moves no branch of the user, and recreates the session's branch where it was one by name only", async () => {
    const main = repository.git('rev-parse', 'main');
    for (const isDirty of [false, true]) {
      repository.git('symbolic-ref', 'refs/heads/svc/s-1', 'refs/heads/main');
      if (isDirty) write('mine.txt', 'x\n');
      inWorktree('checkout', '-q', '--detach', main);
      const head = commit({ [`more-${isDirty}.txt`]: 'x\n' });
      if (isDirty) write('late.txt', 'x\n');
      await finish();
      assert.equal(repository.git('rev-parse', 'main'), main);
      inWorktree('merge-base', '--is-ancestor', head, 'svc/s-1');
    }
  });

  test("the end commits nothing in another checkout that the worktree's git folder was made to name", async () => {
    const other = join(repository.folder, 's-2');
    repository.git('worktree', 'add', '--quiet', '-b', 'svc/s-2', other);
    write('work.txt', 'work\n');
    for (const checkout of [repository.root, other]) {
      const gitDir = repository.gitIn(checkout, 'rev-parse', '--absolute-git-dir');
      const look = () => [
        repository.gitIn(checkout, 'symbolic-ref', 'HEAD'),
        repository.gitIn(checkout, 'status', '--short'),
      ];
      const before = look();
      write('.git', `gitdir: ${gitDir}\n`);
      const end = await finish();
      assert.match(end.unsafe ?? '', /not made for it|does not belong to its repository/);
      assert.deepEqual(look(), before);
    }
  });

  test('the end does not report unreadable work as empty', async () => {
    const { path } = made;
    const gitDir = inWorktree('rev-parse', '--absolute-git-dir');
    const config = join(repository.root, '.git/config');
    const keep = readFileSync(config);
    const mark = readFileSync(join(path, '.git'));
    const restore = (): void => {
      writeFileSync(config, keep);
      rmSync(join(gitDir, 'config.worktree'), { force: true });
      rmSync(join(path, '.git'), { recursive: true, force: true });
      writeFileSync(join(path, '.git'), mark);
    };
    const other = makeRepository();
    other.git('worktree', 'add', '--quiet', '-b', 'svc/s-1', join(other.folder, 'w'));
    const spoilt: Record<string, () => void> = {
      'another repository in its place': () => {
        rmSync(join(path, '.git'));
        inWorktree('init', '--quiet');
      },
      'another repository with a commit of all files': () => {
        rmSync(join(path, '.git'));
        inWorktree('init', '--quiet');
        inWorktree('checkout', '--quiet', '-b', 'svc/s-1');
        inWorktree('add', '--all');
        inWorktree('commit', '--quiet', '-m', 'all');
      },
      'a .git that is gone': () => rmSync(join(path, '.git')),
      'a git folder that is gone': () => write('.git', 'gitdir: /nowhere/.git/worktrees/s-1\n'),
      'a git folder of another repository': () =>
        write('.git', readFileSync(join(other.folder, 'w', '.git'), 'utf8')),
      'a broken configuration': () => writeFileSync(config, '[broken\n'),
      'files elsewhere': () => {
        repository.git('config', 'extensions.worktreeConfig', 'true');
        writeFileSync(join(gitDir, 'config.worktree'), `[core]\n\tworktree = ${other.root}\n`);
      },
    };
    write('new.txt', 'work\n');
    for (const [name, spoil] of Object.entries(spoilt)) {
      spoil();
      const end = await finish();
      assert.deepEqual([end.commits, end.files, end.insertions], [null, null, null], name);
      assert.ok(end.unsafe, name);
      const plan = await worktrees
        .planPrune({ repository: repository.root, base: 'main', keep: () => false, isOurs: () => true })
        .catch((error: Error) => error);
      // If the repository itself is unreadable, the result is an error, never an empty plan.
      if (plan instanceof Error) assert.match(plan.message, /bad config/, name);
      else assert.match(plan.entries[0]?.reasons.join() ?? '', /^unreadable: /, name);
      const listed = await worktrees
        .readStatus({ repository: repository.root, base: 'main' })
        .catch(() => null);
      const row = listed?.worktrees[0];
      if (row !== undefined) {
        assert.ok(row.unreadable, name);
        assert.deepEqual([row.dirty, row.untracked], [null, null], name);
      }
      restore();
    }
    const end = await finish();
    assert.deepEqual([end.commits, end.files, end.wip, end.unsafe], [1, 1, true, undefined]);
    other.remove();
  });

  test('the end reports commits that git cannot read', async () => {
    const head = commit({ 'work.txt': 'work\n' });
    rmSync(join(repository.root, '.git/objects', head.slice(0, 2), head.slice(2)));
    const end = await finish();
    assert.equal(end.commits, null);
    assert.ok(end.unsafe);
    repository.git('branch', 'svc/s-2', 'main');
    const { worktrees: rows } = await worktrees.readStatus({ repository: repository.root, base: 'main' });
    assert.deepEqual(
      rows.map(({ branch, ahead, merged, unreadable }) => [branch, ahead, merged, unreadable !== null]),
      [
        ['svc/s-2', 0, true, false],
        ['svc/s-1', null, null, true],
      ],
    );
    const { entries } = await worktrees.planPrune({
      repository: repository.root,
      base: 'main',
      keep: () => false,
      isOurs: () => true,
    });
    assert.match(entries.find(({ branch }) => branch === 'svc/s-1')?.reasons.join() ?? '', /unreadable/);
  });

  test('the end writes nowhere else through a link in the git folder', async () => {
    const gitDir = inWorktree('rev-parse', '--absolute-git-dir').trim();
    const other = join(repository.folder, 'other.txt');
    for (const name of ['index', 'logs/HEAD', 'HEAD']) {
      writeFileSync(other, 'mine\n');
      const file = join(gitDir, name);
      const was = existsSync(file) ? readFileSync(file) : '';
      rmSync(file, { force: true });
      symlinkSync(other, file);
      write('new.txt', `${name}\n`);
      const end = await finish();
      assert.ok(end.unsafe !== undefined, name);
      assert.equal(readFileSync(other, 'utf8'), 'mine\n');
      rmSync(file);
      writeFileSync(file, was);
    }
    assert.equal((await finish()).unsafe, undefined);
  });
});

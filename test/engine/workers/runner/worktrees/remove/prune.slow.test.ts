import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { quoteForShell } from '../../../../../../engine/core/base/text.ts';
import {
  createWorktrees,
  type PruneEntry,
  type Worktrees,
} from '../../../../../../engine/workers/runner/worktrees/index.ts';
import { settled } from '../../../../../support/wait.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let worktreesDir: string;

beforeEach(() => {
  repository = makeRepository();
  worktrees = createWorktrees({ env: gitEnvironment() });
  worktreesDir = join(repository.folder, 'worktrees');
});
afterEach(() => repository.remove());

const create = async (session: string): Promise<string> => {
  const { path } = await worktrees.create({
    repositoryPath: repository.root,
    worktreePath: join(worktreesDir, session),
    branch: `svc/${session}`,
    projectPath: repository.root,
  });
  return path;
};
const plan = (keep: (branch: string) => boolean = () => false) =>
  worktrees.planPrune({ repository: repository.root, worktreesDir, keep, isOurs: () => true });
const status = async () =>
  (await worktrees.readStatus({ repository: repository.root, worktreesDir })).worktrees;
const reasonsOf = (entries: readonly PruneEntry[], session: string): string =>
  entries.find((entry) => entry.branch === `svc/${session}`)?.reasons.join('; ') ?? 'not in the plan';
const branches = (): string[] =>
  repository.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/svc/').split('\n');

/** One worktree for every reason not to remove it; returns the action that resolves each. */
async function oneOfEach(): Promise<() => void> {
  const at = async (session: string, spoil: (path: string) => void): Promise<void> =>
    spoil(await create(session));
  await at('dirty', (path) => writeFileSync(join(path, 'README.md'), 'changed'));
  await at('staged', (path) => {
    writeFileSync(join(path, 'README.md'), 'changed');
    repository.gitIn(path, 'add', '.');
  });
  await at('untracked', (path) => writeFileSync(join(path, 'new.txt'), 'new'));
  await at('unmerged', (path) => repository.commit({ 'work.txt': 'work' }, 'work', path));
  await at('detached', (path) => {
    repository.gitIn(path, 'checkout', '--quiet', '--detach');
    repository.commit({ 'work.txt': 'other work' }, 'work', path);
  });
  await at('switched', (path) => {
    repository.gitIn(path, 'checkout', '--quiet', '-b', 'feature');
    repository.commit({ 'work.txt': 'feature work' }, 'work', path);
  });
  await at('nested', (path) => {
    writeFileSync(join(path, '.gitignore'), '');
    mkdirSync(join(path, 'inner'));
    repository.gitIn(join(path, 'inner'), 'init', '--quiet');
    repository.write('.git/info/exclude', '.svc/\ninner/\n.gitignore\n');
  });
  await at('locked', (path) => repository.git('worktree', 'lock', '--reason', 'mine', path));
  await at('unreadable', (path) => rmSync(join(path, '.git')));
  await at('kept', () => {});
  const child = spawn('sleep', ['600'], { cwd: await create('live'), stdio: 'ignore' });
  mkdirSync(join(worktreesDir, 'stray'));
  writeFileSync(join(worktreesDir, 'stray', 'file'), 'mine');
  return () => child.kill('SIGKILL');
}

describe('pruning (R1)', () => {
  test('prune refuses everything that may be work, each with its reason, and removes none of it', async () => {
    const end = await oneOfEach();
    try {
      const made = await plan((branch) => branch === 'svc/kept');
      const expected: Record<string, RegExp> = {
        dirty: /^uncommitted changes: README\.md$/,
        staged: /^uncommitted changes: README\.md$/,
        untracked: /^untracked files: new\.txt$/,
        unmerged: /^unmerged work \(not in main\)$/,
        detached: /HEAD holds unmerged work/,
        switched: /HEAD holds unmerged work/,
        nested: /^holds the git repository inner$/,
        locked: /^locked: mine$/,
        unreadable: /^unreadable: /,
        kept: /^its session is kept$/,
        live: /^process \d+ works in it$/,
        stray: /^unreadable: git does not know this folder$/,
      };
      for (const [session, reason] of Object.entries(expected))
        assert.match(reasonsOf(made.entries, session), reason, session);
      assert.deepEqual(
        made.entries.filter((entry) => entry.action === 'remove'),
        [],
      );
      const before = [branches(), repository.git('worktree', 'list')];
      assert.deepEqual(await worktrees.prune(made), { removed: [], refused: [], gone: [] });
      assert.deepEqual([branches(), repository.git('worktree', 'list')], before);
    } finally {
      end();
    }
  });

  test('prune refuses a damaged repository, even where its files are ignored one by one', async () => {
    repository.commit({ '.gitignore': '*.log\n' });
    const inner = join(await create('s-1'), 'far/inner');
    mkdirSync(inner, { recursive: true });
    repository.gitIn(inner, 'init', '--quiet');
    repository.commit({ 'a.log': 'a' }, 'inner', inner);
    rmSync(join(inner, '.git/HEAD'));
    assert.match(reasonsOf((await plan()).entries, 's-1'), /^holds the git repository far\/inner$/);
  });

  test('prune checks again at the moment of deletion: an outdated plan removes nothing', async () => {
    const names = [
      'dirty',
      'staged',
      'untracked',
      'unmerged',
      'detached',
      'locked',
      'unreadable',
      'kept',
      'live',
    ];
    for (const name of names) await create(name);
    let isKept = false;
    const made = await plan((branch) => isKept && branch === 'svc/kept');
    assert.equal(made.entries.filter((entry) => entry.action === 'remove').length, names.length);

    isKept = true;
    const at = (name: string): string => join(worktreesDir, name);
    writeFileSync(join(at('dirty'), 'README.md'), 'changed');
    writeFileSync(join(at('staged'), 'README.md'), 'changed');
    repository.gitIn(at('staged'), 'add', '.');
    writeFileSync(join(at('untracked'), 'new.txt'), 'new');
    repository.commit({ 'work.txt': 'work' }, 'work', at('unmerged'));
    repository.gitIn(at('detached'), 'checkout', '--quiet', '--detach');
    repository.commit({ 'work.txt': 'work' }, 'work', at('detached'));
    repository.git('worktree', 'lock', at('locked'));
    rmSync(join(at('unreadable'), '.git'));
    const child = spawn('sleep', ['600'], { cwd: at('live'), stdio: 'ignore' });
    const result = await worktrees.prune(made);
    child.kill('SIGKILL');
    assert.deepEqual(result.removed, []);
    assert.deepEqual(result.refused.map((one) => one.branch.slice(4)).sort(), [...names].sort());
    assert.ok(result.refused.every((one) => one.reasons.length > 0));
    for (const name of names) assert.equal(existsSync(join(at(name), 'README.md')), true, name);
  });

  test('prune removes merged, squashed or empty work, and keeps its commits under a ref', async () => {
    const tips = new Map<string, string>();
    for (const session of ['s-1', 's-2', 's-3']) await create(session);
    tips.set('s-1', repository.git('rev-parse', 'main'));
    tips.set('s-2', repository.commit({ 'two.txt': 'two\n' }, 'two', join(worktreesDir, 's-2')));
    tips.set('s-3', repository.commit({ 'three.txt': 'three\n' }, 'three', join(worktreesDir, 's-3')));
    repository.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'svc/s-2');
    repository.git('merge', '--quiet', '--squash', 'svc/s-3');
    repository.commit({}, 'squashed');
    writeFileSync(join(worktreesDir, 's-1', '.gitignore'), '');
    rmSync(join(worktreesDir, 's-1', '.gitignore'));

    const { removed, refused } = await worktrees.prune(await plan());
    assert.deepEqual(refused, []);
    assert.deepEqual(removed.map((one) => one.branch).sort(), ['svc/s-1', 'svc/s-2', 'svc/s-3']);
    for (const { branch, savedRefs } of removed) {
      const tip = tips.get(branch.slice(4))!;
      assert.deepEqual(savedRefs, [`refs/svc/pruned/${branch}/${tip.slice(0, 12)}`]);
      assert.equal(repository.git('rev-parse', savedRefs[0]!), tip);
    }
    assert.deepEqual(branches(), ['']);
    assert.equal(repository.git('worktree', 'list').split('\n').length, 1);
    assert.equal(existsSync(join(worktreesDir, 's-2')), false);
    assert.deepEqual((await plan()).entries, []);
  });

  test('prune removes merged branches without a worktree, worktrees without a folder, and empty stray folders', async () => {
    repository.git('branch', 'svc/alone');
    const gone = await create('gone');
    rmSync(gone, { recursive: true });
    mkdirSync(join(worktreesDir, 'empty'));
    repository.commit({ 'x.txt': 'x' }, 'x', await create('lost'));
    rmSync(join(worktreesDir, 'lost'), { recursive: true });
    const elsewhere = join(repository.folder, 'of-the-user');
    repository.git('worktree', 'add', '--quiet', '-b', 'mine', elsewhere);
    rmSync(elsewhere, { recursive: true }); // as if on a disk that is not mounted

    const { removed } = await worktrees.prune(await plan());
    assert.deepEqual(removed.map((one) => one.branch).sort(), ['svc/alone', 'svc/empty', 'svc/gone']);
    assert.deepEqual(branches(), ['svc/lost'], 'unmerged commits outlive their folder');
    assert.match(repository.git('worktree', 'list'), /of-the-user/);
  });

  test('prune refuses when the process table cannot be read', async () => {
    await create('s-1');
    const blind = createWorktrees({ env: gitEnvironment(), readWorkingFolders: () => null });
    const made = await blind.planPrune({
      repository: repository.root,
      keep: () => false,
      isOurs: () => true,
    });
    assert.match(reasonsOf(made.entries, 's-1'), /svc cannot tell/);
  });

  test('prune ignores a process that was inside only for a moment, such as a git that starts', async () => {
    const path = await create('s-1');
    let looks = 0;
    const busy = createWorktrees({
      env: gitEnvironment(),
      // This process stands for one that has not become a git yet.
      readWorkingFolders: () => new Map([[process.pid, looks++ % 2 === 0 ? path : repository.root]]),
    });
    const made = await busy.planPrune({
      repository: repository.root,
      keep: () => false,
      isOurs: () => true,
    });
    assert.equal(reasonsOf(made.entries, 's-1'), '');
    assert.equal(looks, 2);
  });

  test("a commit named as the base is that commit, even if a worker's branch has its name", async () => {
    const path = await create('s-1');
    const base = repository.git('rev-parse', 'main');
    repository.commit({ 'work.txt': 'work' }, 'work', path);
    repository.git('update-ref', `refs/heads/${base}`, 'svc/s-1');
    const { entries } = await worktrees.planPrune({
      repository: repository.root,
      worktreesDir,
      base,
      keep: () => false,
      isOurs: () => true,
    });
    assert.match(reasonsOf(entries, 's-1'), /unmerged work/);
  });

  test('prune leaves a branch that is checked out elsewhere, even when that makes it the base', async () => {
    repository.git('checkout', '--quiet', '-b', 'svc/s-1');
    const { entries } = await plan();
    assert.equal(reasonsOf(entries, 's-1'), `checked out at ${repository.root}`);
  });

  test('a worktree of a repository with submodules that were never initialised is removed', async () => {
    const other = makeRepository();
    repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.root, 'module');
    repository.commit({}, 'submodule');
    const path = await create('s-1');
    const { removed, refused } = await worktrees.prune(await plan());
    assert.deepEqual([removed.length, refused, existsSync(path)], [1, [], false]);
    other.remove();
  });

  for (const hasModules of [false, true])
    test(`a file that comes too late keeps its worktree${hasModules ? ', also with submodules' : ', with any path'}`, async () => {
      const other = makeRepository();
      if (hasModules) {
        repository.git(
          '-c',
          'protocol.file.allow=always',
          'submodule',
          '--quiet',
          'add',
          other.root,
          'module',
        );
        repository.commit({}, 'submodule');
      }
      worktreesDir = join(repository.folder, 'submodules');
      const path = await create('s-1');
      const made = await plan();
      // The worker writes again after it was found safe and its commit was saved.
      const bin = join(repository.folder, 'bin');
      mkdirSync(bin);
      const { PATH = '' } = process.env;
      const late = join(path, 'late.txt');
      writeFileSync(
        join(bin, 'git'),
        `#!/bin/sh\ncase " $* " in *' update-ref '*) echo late > ${quoteForShell(late)} ;; esac\nPATH=${quoteForShell(PATH)} exec git "$@"\n`,
        { mode: 0o755 },
      );
      const env = gitEnvironment({ PATH: [bin, PATH].join(delimiter) });
      const { removed, refused } = await createWorktrees({ env }).prune(made);
      assert.deepEqual([removed, refused[0]?.reasons], [[], ['untracked files: late.txt']]);
      assert.equal(readFileSync(late, 'utf8'), 'late\n');
      rmSync(late);
      assert.equal((await worktrees.prune(await plan())).removed.length, 1);
      assert.equal(existsSync(path), false);
      other.remove();
    });

  test('prune continues where an engine was killed while it removed a worktree, and loses no late file', async () => {
    const path = await create('s-killed');
    renameSync(path, `${path}.removing`);
    writeFileSync(join(`${path}.removing`, 'late.txt'), 'late\n');
    const { removed, refused } = await worktrees.prune(await plan());
    assert.deepEqual([removed, refused[0]?.reasons], [[], ['untracked files: late.txt']]);
    assert.equal(readFileSync(join(path, 'late.txt'), 'utf8'), 'late\n');
    rmSync(join(path, 'late.txt'));

    renameSync(path, `${path}.removed`);
    rmSync(join(`${path}.removed`, '.git'));
    assert.equal((await worktrees.prune(await plan())).removed.length, 1);
    assert.ok(!existsSync(`${path}.removed`));
  });

  test('prune lists ignored files that are removed with a worktree, before and after', async () => {
    repository.commit({ '.gitignore': '*.log\nnode_modules/\n' });
    const path = await create('s-1');
    writeFileSync(join(path, 'run.log'), 'log');
    mkdirSync(join(path, 'node_modules'));
    const made = await plan();
    assert.deepEqual(made.entries[0]?.ignored, ['run.log']);
    const { removed } = await worktrees.prune(made);
    assert.deepEqual(removed[0]?.ignored, ['ignored files went with the worktree: run.log']);
  });

  test('two simultaneous prunes remove each thing once', async () => {
    for (const session of ['s-1', 's-2', 's-3']) await create(session);
    const made = await plan();
    const [one, two] = await settled(Promise.all([worktrees.prune(made), worktrees.prune(made)]));
    assert.equal(one.removed.length + two.removed.length, 3);
    assert.deepEqual([...one.refused, ...two.refused], []);
  });
});

describe('the list of session worktrees', () => {
  test('the list distinguishes every state', async () => {
    const end = await oneOfEach();
    try {
      repository.commit({ 'later.txt': 'x\n' });
      const list = new Map((await status()).map((one) => [one.branch.slice(4), one]));
      const state = (session: string) => list.get(session)!;
      assert.equal(list.size, 12);
      assert.deepEqual([state('dirty').dirty, state('dirty').untracked], [true, false]);
      assert.deepEqual([state('staged').dirty, state('untracked').untracked], [true, true]);
      assert.deepEqual(
        [state('unmerged').merged, state('unmerged').ahead, state('unmerged').behind],
        [false, 1, 1],
      );
      assert.deepEqual([state('kept').merged, state('kept').ahead, state('kept').orphan], [true, 0, false]);
      assert.equal(state('switched').checkedOut, 'feature');
      assert.match(state('detached').checkedOut ?? '', /^[0-9a-f]{40}$/);
      assert.deepEqual([state('live').live, state('kept').live], [true, false]);
      assert.deepEqual([state('locked').locked, state('kept').locked], [true, false]);
      assert.ok(state('unreadable').unreadable);
      assert.deepEqual([state('stray').orphan, state('stray').head], [true, null]);
      assert.ok([...list.values()].every((one) => one.path?.startsWith(worktreesDir)));
      repository.git('branch', 'svc/alone');
      assert.equal((await status()).find((one) => one.branch === 'svc/alone')?.orphan, true);
    } finally {
      end();
    }
  });

  test('listing a worktree takes no lock in it', async () => {
    const path = await create('s-1');
    const gitDir = repository.gitIn(path, 'rev-parse', '--absolute-git-dir');
    const index = readFileSync(join(gitDir, 'index'));
    writeFileSync(join(path, 'README.md'), 'one\ntwo\nthree\n'); // same content, newer: git would refresh its index
    writeFileSync(join(gitDir, 'index.lock'), '');
    assert.equal((await status())[0]?.dirty, false);
    assert.deepEqual(readFileSync(join(gitDir, 'index')), index);
  });
});

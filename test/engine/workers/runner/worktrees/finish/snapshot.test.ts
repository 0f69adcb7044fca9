import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
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
  repository.commit({ 'kept.txt': 'kept', 'removed.txt': 'x', '.gitignore': 'ignored.txt\n' }, 'files');
  worktrees = createWorktrees({ env: gitEnvironment() });
  made = await worktrees.create({
    repositoryPath: repository.root,
    worktreePath: join(repository.folder, 's-1'),
    branch: 'svc/s-1',
    projectPath: repository.root,
  });
});
afterEach(async () => {
  await worktrees.close();
  repository.remove();
});

const REF = 'refs/svc/s-1/s-1-run-1';
const snapshot = () => worktrees.snapshot({ path: made.path, branch: 'svc/s-1', ref: REF, message: 'saved' });
const inWorktree = (...args: string[]): string => repository.gitIn(made.path, ...args);
const write = (path: string, text: string): void => writeFileSync(join(made.path, path), text);
const listFiles = (commit: string): string[] =>
  repository.git('ls-tree', '-r', '--name-only', commit).split('\n');

describe('a snapshot of a worktree whose worker continues', () => {
  test('a snapshot has all files that are not ignored, and changes nothing of the worktree', async () => {
    write('kept.txt', 'changed');
    write('new.txt', 'new');
    write('ignored.txt', 'ignored');
    rmSync(join(made.path, 'removed.txt'));
    inWorktree('add', 'new.txt');
    const before = inWorktree('status', '--porcelain');
    const commit = await snapshot();
    assert.ok(commit !== null);
    assert.equal(repository.git('rev-parse', REF), commit);
    assert.equal(repository.git('rev-parse', `${commit}^`), made.baseCommit);
    const files = listFiles(commit);
    assert.ok(files.includes('new.txt') && !files.includes('removed.txt') && !files.includes('ignored.txt'));
    assert.equal(repository.git('show', `${commit}:kept.txt`), 'changed');
    assert.equal(inWorktree('status', '--porcelain'), before);
    assert.equal(inWorktree('rev-parse', 'HEAD'), made.baseCommit);
    assert.equal(inWorktree('symbolic-ref', 'HEAD'), 'refs/heads/svc/s-1');
  });

  test('a clean worktree has no snapshot, and the same files have one commit', async () => {
    assert.equal(await snapshot(), null);
    write('new.txt', 'new');
    const first = await snapshot();
    assert.equal(await snapshot(), first);
    write('new.txt', 'newer');
    const second = await snapshot();
    assert.notEqual(second, first);
    assert.equal(repository.git('show', `${REF}:new.txt`), 'newer');
  });

  test('a snapshot after a commit is on top of that commit', async () => {
    write('new.txt', 'new');
    await snapshot();
    const head = repository.commit({ 'new.txt': 'new' }, 'new', made.path);
    assert.equal(await snapshot(), null);
    write('other.txt', 'other');
    const commit = await snapshot();
    assert.equal(repository.git('rev-parse', `${commit}^`), head);
    assert.deepEqual(
      listFiles(commit ?? '').filter((name) => /new|other/.test(name)),
      ['new.txt', 'other.txt'],
    );
  });

  test('a repository inside the worktree is left out, and a conflict is saved as it is', async () => {
    mkdirSync(join(made.path, 'inner'));
    repository.gitIn(join(made.path, 'inner'), 'init', '--quiet');
    write('inner/file.txt', 'x');
    inWorktree('checkout', '--quiet', '-b', 'other');
    repository.commit({ 'kept.txt': 'other' }, 'other', made.path);
    inWorktree('checkout', '--quiet', 'svc/s-1');
    repository.commit({ 'kept.txt': 'mine' }, 'mine', made.path);
    assert.throws(() => inWorktree('merge', 'other'));
    const commit = await snapshot();
    assert.match(repository.git('show', `${commit}:kept.txt`), /<<<<<<<[^<]*mine/);
    assert.ok(!listFiles(commit ?? '').some((name) => name.startsWith('inner')));
    assert.match(inWorktree('status', '--porcelain'), /^UU kept\.txt$/m);
  });
});

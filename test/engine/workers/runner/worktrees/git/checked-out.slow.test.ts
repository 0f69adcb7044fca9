import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCheckedOut } from '../../../../../../engine/workers/runner/worktrees/git/checked-out.ts';
import {
  gitEnvironment,
  makeRepository,
  openTestGit,
  temporaryFolder,
} from '../../../../../support/workspaces/git.ts';

const ME = ['-c', 'user.name=A', '-c', 'user.email=a@example.test'];

const at = (folder: string) => readCheckedOut(openTestGit(), realpathSync(folder));

test('the checked-out branch, or with a detached HEAD the commit, is what git reports', (t) => {
  const repository = makeRepository();
  t.after(repository.remove);
  const { root, folder, git } = repository;
  repository.commit({ 'a/b/file': 'x' }, 'first');
  assert.equal(at(root), 'main');
  assert.equal(at(join(root, 'a', 'b')), 'main', 'in a subfolder');
  git('checkout', '--quiet', '-b', 'feature/with/slashes');
  assert.equal(at(root), 'feature/with/slashes');
  git('worktree', 'add', '--quiet', join(folder, 'other'), 'main');
  assert.equal(at(join(folder, 'other', 'a')), 'main', 'in a separate worktree');
  git('checkout', '--quiet', '--detach');
  assert.equal(at(root), git('rev-parse', 'HEAD'));
  git('checkout', '--quiet', '--orphan', 'unborn');
  assert.equal(at(root), 'unborn');
});

test('a folder outside a repository has none, and a fake HEAD does not block', (t) => {
  const outside = temporaryFolder('svc-head-');
  t.after(() => rmSync(outside, { recursive: true, force: true }));
  assert.equal(at(outside), null);
  const repository = makeRepository();
  t.after(repository.remove);
  repository.commit({ file: 'x' }, 'first');
  const head = join(repository.root, '.git', 'HEAD');
  rmSync(head);
  execFileSync('mkfifo', [head]);
  const begun = performance.now();
  assert.equal(at(repository.root), null);
  assert.ok(performance.now() - begun < 15_000);
  rmSync(head);
  symlinkSync('refs/heads/main', head);
  assert.equal(at(repository.root), 'main', 'a symbolic link, as in old versions of git');
  rmSync(head);
  writeFileSync(head, 'nonsense');
  assert.equal(at(repository.root), null);
});

test('a git folder in another place is followed, and refs in tables are read', (t) => {
  const folder = temporaryFolder('svc-head-');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const init = (name: string, ...options: string[]) => {
    const env = gitEnvironment();
    const top = join(folder, name);
    mkdirSync(top);
    execFileSync('git', ['init', '--quiet', '--initial-branch=trunk', ...options], { cwd: top, env });
    execFileSync('git', [...ME, 'commit', '--quiet', '--allow-empty', '-m', 'x'], { cwd: top, env });
    return top;
  };
  const apart = init('apart', `--separate-git-dir=${join(folder, 'apart.git')}`);
  assert.equal(at(apart), 'trunk');
  const linked = init('linked');
  renameSync(join(linked, '.git'), join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), join(linked, '.git'));
  assert.equal(at(linked), 'trunk');
  try {
    assert.equal(at(init('tables', '--ref-format=reftable')), 'trunk');
  } catch (error) {
    if (!/ref-format/.test(String(error))) throw error;
    t.diagnostic('NOT TESTED: this git knows no refs in tables');
  }
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../../../engine/core/base/errors.ts';
import { createWorktrees, type Worktrees } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import { settled, until } from '../../../../../support/wait.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
const others: TestRepository[] = [];

beforeEach(() => {
  repository = makeRepository();
  worktrees = createWorktrees({ env: gitEnvironment() });
});
afterEach(() => {
  for (const one of [repository, ...others.splice(0)]) one.remove();
});

const pathOf = (session: string): string => join(repository.folder, 'worktrees', session);
const create = (session: string, more: { base?: string; projectPath?: string } = {}) =>
  worktrees.create({
    repositoryPath: repository.root,
    worktreePath: pathOf(session),
    branch: `svc/${session}`,
    projectPath: repository.root,
    ...more,
  });
const failsWith = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;

describe('finding the repository', () => {
  test('the repository is found from any folder in it, with its branch and commit', async () => {
    const found = await worktrees.findRepository(join(repository.root, 'app'));
    assert.deepEqual(found, {
      root: repository.root,
      commonDir: join(repository.root, '.git'),
      head: 'main',
      headCommit: repository.git('rev-parse', 'HEAD'),
    });
    repository.git('checkout', '--quiet', '--detach');
    assert.equal((await worktrees.findRepository(repository.root)).head, null);
  });

  test('a folder outside any repository, missing or inside .git is not_a_repository', async () => {
    const plain = join(repository.folder, 'plain');
    mkdirSync(plain);
    for (const path of [plain, join(repository.root, 'none'), join(repository.root, '.git')]) {
      await assert.rejects(worktrees.findRepository(path), failsWith('not_a_repository'), path);
    }
  });

  test('a repository without commits and a bare one are repository_empty with a hint', async () => {
    const empty = makeRepository({ empty: true });
    others.push(empty);
    repository.git('clone', '--quiet', '--bare', repository.root, join(repository.folder, 'bare'));
    for (const path of [empty.root, join(repository.folder, 'bare')]) {
      await assert.rejects(
        worktrees.findRepository(path),
        (error) => failsWith('repository_empty')(error) && (error as SvcError).hint !== undefined,
      );
    }
  });

  test('a checkout whose configuration leads git nowhere, or to another repository, is refused', async () => {
    const other = makeRepository();
    others.push(other);
    const bare = join(repository.folder, 'no-repository');
    mkdirSync(bare);
    repository.git('config', 'core.worktree', bare);
    await assert.rejects(worktrees.findRepository(repository.root), failsWith('git_failed'));
    repository.git('config', 'core.worktree', other.root);
    other.git('checkout', '--quiet', '-b', 'of-the-other');
    assert.equal(
      (await worktrees.findRepository(repository.root)).head,
      'of-the-other',
      'like everything that follows',
    );
  });

  test('other refs named HEAD, and a newline in the path, do not matter', async () => {
    repository.git('update-ref', 'refs/heads/HEAD', 'HEAD');
    repository.git('tag', 'main');
    repository.write('HEAD^{commit}', 'a file\n');
    const first = await worktrees.findRepository(repository.root);
    assert.deepEqual([first.root, first.head], [repository.root, 'main']);
    const path = join(repository.folder, 'two\nlines');
    renameSync(repository.root, path);
    const found = await worktrees.findRepository(path);
    assert.deepEqual([found.root, found.head, found.headCommit], [path, 'main', first.headCommit]);
    const made = await worktrees.create({
      repositoryPath: path,
      worktreePath: join(repository.folder, 's\n1'),
      branch: 'svc/s-1',
      projectPath: path,
    });
    const end = await worktrees.finish({
      path: made.path,
      branch: made.branch,
      baseCommit: made.baseCommit,
      message: 'wip',
    });
    assert.deepEqual([end.head, end.commits, end.unsafe], [first.headCommit, 0, undefined]);
  });

  test('git variables of the host have no effect', async () => {
    const other = makeRepository();
    others.push(other);
    const env = gitEnvironment({
      GIT_DIR: join(other.root, '.git'),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: '/nowhere',
    });
    assert.equal((await createWorktrees({ env }).findRepository(repository.root)).root, repository.root);
  });
});

describe('making a worktree', () => {
  test("a worktree starts from the branch checked out at the project, in the project's folder", async () => {
    const made = await create('s-1', { projectPath: join(repository.root, 'app') });
    assert.deepEqual(made, {
      path: pathOf('s-1'),
      cwd: join(pathOf('s-1'), 'app'),
      branch: 'svc/s-1',
      base: 'main',
      baseCommit: repository.git('rev-parse', 'main'),
      repository: repository.root,
    });
    assert.equal(readFileSync(join(made.cwd, 'main.txt'), 'utf8'), 'start\n');
    assert.equal(repository.gitIn(made.path, 'symbolic-ref', '--short', 'HEAD'), 'svc/s-1');
    assert.equal(repository.git('status', '--porcelain'), '');
  });

  test('a worktree starts from a named base or a detached HEAD, and never from an unknown one', async () => {
    const first = repository.git('rev-parse', 'HEAD');
    repository.git('branch', 'old');
    repository.commit({ 'new.txt': 'new\n' });
    assert.deepEqual(
      [(await create('s-1', { base: 'old' })).base, (await create('s-2', { base: first })).baseCommit],
      ['old', first],
    );
    repository.git('checkout', '--quiet', '--detach');
    const detached = await create('s-3');
    assert.deepEqual([detached.base, detached.baseCommit], [null, repository.git('rev-parse', 'HEAD')]);
    await assert.rejects(create('s-4', { base: 'none' }), failsWith('not_found'));
    await assert.rejects(create('s-4', { base: '--help' }), failsWith('not_found'));
    await assert.rejects(create('-x..y'), failsWith('usage'));
  });

  test('.svc/ is excluded once, in every worktree', async () => {
    writeFileSync(join(repository.root, '.git/info/exclude'), '# mine');
    await create('s-1');
    const made = await create('s-2');
    assert.equal(readFileSync(join(repository.root, '.git/info/exclude'), 'utf8'), '# mine\n.svc/\n');
    for (const folder of [repository.root, made.path, join(made.path, 'app')]) {
      mkdirSync(join(folder, '.svc'));
      writeFileSync(join(folder, '.svc/MEMORY_BRIEF.md'), 'x');
    }
    assert.equal(repository.gitIn(made.path, 'status', '--porcelain', '-uall'), '');
    assert.equal(repository.git('status', '--porcelain', '-uall'), '');
  });

  test('twenty simultaneous worktrees of one repository all succeed', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`s-${index}`)));
    assert.equal(new Set(made.map((one) => one.path)).size, 20);
    assert.equal(repository.git('worktree', 'list').split('\n').length, 21);
  });

  test('hooks of the repository do not run', async () => {
    repository.write('.git/hooks/post-checkout', `#!/bin/sh\ntouch '${repository.root}/.git/hooked'\n`);
    chmodSync(join(repository.root, '.git/hooks/post-checkout'), 0o700);
    await create('s-1');
    assert.equal(existsSync(join(repository.root, '.git/hooked')), false);
  });
});

describe('a second try for the same session', () => {
  test('a second try uses a complete worktree, a branch alone, an empty folder and a worktree whose folder is gone', async () => {
    const first = await create('s-1');
    assert.deepEqual(await create('s-1'), first);
    repository.git('branch', 'svc/s-2');
    mkdirSync(pathOf('s-2'), { recursive: true });
    assert.equal((await create('s-2')).baseCommit, first.baseCommit);
    rmSync(first.path, { recursive: true });
    assert.deepEqual(await create('s-1'), first);
    assert.equal(repository.gitIn(first.path, 'status', '--porcelain'), '');
  });

  test('a second try keeps its first base although the branch has moved on', async () => {
    const first = await create('s-1');
    repository.commit({ 'new.txt': 'x\n' });
    assert.equal((await create('s-1')).baseCommit, first.baseCommit);
  });

  test('a second try never uses a folder with work', async () => {
    const { path } = await create('s-1');
    writeFileSync(join(path, 'untracked.txt'), 'work');
    await assert.rejects(create('s-1'), failsWith('exists'));
    repository.commit({ 'untracked.txt': 'work' }, 'work', path);
    await assert.rejects(create('s-1'), failsWith('exists'));
    mkdirSync(pathOf('s-2'), { recursive: true });
    writeFileSync(join(pathOf('s-2'), 'file'), 'mine');
    await assert.rejects(create('s-2'), failsWith('exists'));
    assert.equal(readFileSync(join(pathOf('s-2'), 'file'), 'utf8'), 'mine');
    repository.git('worktree', 'add', '--quiet', '-b', 'other', pathOf('s-3'));
    await assert.rejects(create('s-3'), failsWith('exists'));
  });

  test('a branch that blocks all session branches is named with its fix, before and at the start', async () => {
    const request = { repositoryPath: repository.root, projectPath: repository.root };
    repository.git('branch', 'SVC');
    await worktrees.findOrigin(request);
    for (const [name, ignoreCase] of [
      ['svc', 'false'],
      ['SVC', 'true'],
    ] as const) {
      repository.git('branch', '--force', name);
      repository.git('config', 'core.ignoreCase', ignoreCase);
      await assert.rejects(worktrees.findOrigin(request), (error) => {
        assert.ok(error instanceof SvcError);
        assert.equal(error.code, 'conflict');
        assert.match(error.message, new RegExp(`has a branch named ${name}`));
        assert.match(String(error.hint), new RegExp(`git branch -m ${name} `));
        return true;
      });
      if (name === 'svc') await assert.rejects(create('s-1'), failsWith('conflict'));
      repository.git('branch', '-D', name);
    }
  });

  test("a branch below the session's own branch name takes a free name", async () => {
    repository.git('branch', 'svc/s-1/mine');
    await assert.rejects(create('s-1'), failsWith('exists'));
    assert.equal((await create('s-2')).branch, 'svc/s-2');
  });

  test('a second try clears away what a git has made that ran when the host was killed, and ends that git', async () => {
    // A waiting filter holds git in the middle of its checkout.
    const go = join(repository.folder, 'go');
    repository.commit({ '.gitattributes': 'slow.txt filter=slow\n', 'slow.txt': 'slow\n' });
    repository.git('config', 'filter.slow.smudge', `while [ ! -e '${go}' ]; do sleep 0.01; done; cat`);
    const half = (session: string) => {
      const args = ['worktree', 'add', '--no-track', '-b', `svc/${session}`, pathOf(session), 'main'];
      return spawn('git', args, {
        cwd: repository.root,
        stdio: 'ignore',
        detached: true,
        env: gitEnvironment(),
      });
    };
    const isHalfMade = (session: string) => () =>
      existsSync(join(repository.root, '.git/worktrees', session, 'index.lock'));

    const killed = half('s-1');
    await until(isHalfMade('s-1'), 'a half-made worktree');
    const ended = new Promise((done) => killed.once('close', done));
    process.kill(-killed.pid!, 'SIGKILL');
    await settled(ended);
    assert.deepEqual(readdirSync(pathOf('s-1')).includes('slow.txt'), false);

    const left = half('s-2');
    await until(isHalfMade('s-2'), 'a half-made worktree');
    const leftEnded = new Promise((done) => left.once('close', done));
    const waiting = create('s-2');
    await settled(leftEnded, 'the end of the git that was left');
    writeFileSync(go, '');
    for (const path of [(await waiting).path, (await create('s-1')).path]) {
      assert.equal(readFileSync(join(path, 'slow.txt'), 'utf8'), 'slow\n');
      assert.equal(repository.gitIn(path, 'status', '--porcelain'), '');
    }
  });
});

describe('git stays in the worktree (R2)', () => {
  test('a worktree whose .git was removed is unsafe, although a repository is above it', async () => {
    const inside = join(repository.root, '.svc/worktrees/s-1');
    mkdirSync(join(repository.root, '.svc'));
    const { path } = await worktrees.create({
      repositoryPath: repository.root,
      worktreePath: inside,
      branch: 'svc/s-1',
      projectPath: repository.root,
    });
    await worktrees.verifyToplevel(path);
    rmSync(join(path, '.git'));
    await assert.rejects(worktrees.verifyToplevel(path), failsWith('worktree_unsafe'));
    await assert.rejects(
      worktrees.verifyToplevel(join(repository.root, 'app')),
      failsWith('worktree_unsafe'),
    );
    const before = repository.git('rev-parse', 'HEAD');
    writeFileSync(join(path, 'lost.txt'), 'x');
    const end = await worktrees.finish({
      path,
      branch: 'svc/s-1',
      baseCommit: before,
      message: 'wip',
      repository: repository.root,
    });
    assert.match(end.unsafe ?? '', /not a git worktree/);
    assert.equal(end.head, before);
    assert.equal(repository.git('rev-parse', 'HEAD'), before);
    assert.equal(repository.git('status', '--porcelain'), '');
  });
});

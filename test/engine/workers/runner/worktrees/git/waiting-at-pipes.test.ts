import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createGit, watchLeftGits } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import { until } from '../../../../../support/wait.ts';
import { makeRepository } from '../../../../../support/workspaces/git.ts';

const SOON_MS = 50;
const NEVER_MS = 3_600_000;

const makePipe = (path: string): void => void execFileSync('mkfifo', [path]);

/** Creates a repository in which `git diff HEAD` waits at a pipe in the work tree, and `git for-each-ref` at one among the refs. */
function makeTrap(t: TestContext, trap: 'attributes' | 'ref') {
  const repository = makeRepository();
  t.after(repository.remove);
  mkdirSync(join(repository.root, 'below'));
  repository.commit({ 'below/one.txt': 'x' }, 'one');
  writeFileSync(join(repository.root, 'below', 'one.txt'), 'y');
  const pipe = join(
    repository.root,
    ...(trap === 'ref' ? ['.git', 'refs', 'heads', 'trap'] : ['below', '.gitattributes']),
  );
  makePipe(pipe);
  return { ...repository, pipe, args: trap === 'ref' ? ['for-each-ref'] : ['diff', 'HEAD'] };
}

const openGit = (patienceMs: number) => createGit({ env: process.env, agentsDir: null }, { patienceMs });

/** Lists the git processes that this process has started and that still run. */
function listOwnGits(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim();
  return children
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'git\n');
}

describe("a git call that waits at a worker's pipe", { timeout: 60_000 }, () => {
  test('the call is ended and names the pipe, and pipes among the refs are removed', async (t) => {
    const { git } = openGit(SOON_MS);
    const { root, pipe, args } = makeTrap(t, 'attributes');
    await assert.rejects(git.text(root, args), {
      code: 'git_failed',
      message: /was waiting at a pipe.*below\/\.gitattributes/,
    });
    rmSync(pipe);
    makePipe(join(root, '.git', 'refs', 'heads', 'trap'));
    await assert.rejects(git.text(root, ['for-each-ref']), { message: /refs\/heads\/trap/ });
    assert.match(await git.text(root, ['for-each-ref']), /refs\/heads/);
    assert.match(await git.text(root, args), /^\+y$/m);
  });

  test('all calls at one pipe end, although the first removes it', async (t) => {
    const { root, args } = makeTrap(t, 'ref');
    const calls = Array.from({ length: 4 }, (_, at) => openGit(SOON_MS * (1 + at * 20)).git.text(root, args));
    const results = await Promise.allSettled(calls);
    assert.equal(results[0]?.status, 'rejected');
  });

  test('a call whose folder is removed is ended too', async (t) => {
    const { root, args } = makeTrap(t, 'attributes');
    const call = openGit(SOON_MS * 20).git.text(root, args);
    const moved = `${root}-moved`;
    t.after(() => rmSync(moved, { recursive: true, force: true }));
    const failed = assert.rejects(call, { code: 'git_failed', message: /its folder was removed/ });
    await until(() => listOwnGits().length > 0, 'git');
    renameSync(root, moved);
    await failed;
  });

  test('the call ends when git is closed', { skip: process.platform !== 'linux' }, async (t) => {
    const { root, args } = makeTrap(t, 'attributes');
    const { git, close } = openGit(NEVER_MS);
    const failed = assert.rejects(git.text(root, args), { code: 'git_failed', message: /SIGTERM/ });
    await until(() => listOwnGits().length > 0, 'git');
    close();
    await failed;
    assert.deepEqual(listOwnGits(), []);
  });
});

test('the git processes that a killed engine left at a pipe are ended, and those of others are not', {
  skip: process.platform !== 'linux',
  timeout: 60_000,
}, async (t) => {
  const { root, args } = makeTrap(t, 'attributes');
  const start = async (mark: string): Promise<ChildProcess> => {
    const child = spawn('git', args, {
      cwd: root,
      env: { ...process.env, SVC_ENGINE_CHILD: mark },
      stdio: 'ignore',
    });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'spawn');
    return child;
  };
  const [left, other] = await Promise.all([start('0123456789ab'), start('ba9876543210')]);
  const ended = once(left, 'exit');
  const watch = watchLeftGits({ SVC_ENGINE_CHILD: '0123456789ab' }, SOON_MS);
  t.after(watch.close);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.equal(other.exitCode ?? other.signalCode, null);
});

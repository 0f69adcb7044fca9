import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createGit, watchLeftGits } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import { isRunning } from '../../../../../support/processes/processes.ts';
import { until } from '../../../../../support/wait.ts';
import { makeRepository } from '../../../../../support/workspaces/git.ts';

const STATUS = ['status', '--porcelain'];

/** Creates a repository in which `git status` waits for a filter that never ends, as one that asks a network may. */
function makeHangingFilter(t: TestContext) {
  const repository = makeRepository();
  t.after(repository.remove);
  repository.commit({ '.gitattributes': '*.bin filter=slow\n', 'a.bin': 'x\n' }, 'one');
  const pids = join(repository.root, '.git', 'pids');
  repository.git('config', 'filter.slow.clean', `echo $$ >> '${pids}'; exec sleep 3600`);
  writeFileSync(join(repository.root, 'a.bin'), 'y\n');
  const findFilter = (): number => (existsSync(pids) ? Number(readFileSync(pids, 'utf8')) : 0);
  t.after(() => {
    if (isRunning(findFilter())) process.kill(findFilter(), 'SIGKILL');
  });
  return { root: repository.root, findFilter };
}

describe('a git call whose filter hangs', { timeout: 60_000 }, () => {
  const openGit = () => createGit({ env: process.env, agentsDir: null });

  test('the filter ends with the call when its time is over', async (t) => {
    const { root, findFilter } = makeHangingFilter(t);
    const { git } = openGit();
    await assert.rejects(git.text(root, STATUS, { timeoutMs: 1000 }), { code: 'git_failed' });
    assert.ok(findFilter() > 0);
    await until(() => !isRunning(findFilter()), 'the end of the filter');
  });

  test('the filter ends with the call when git is closed', async (t) => {
    const { root, findFilter } = makeHangingFilter(t);
    const { git, close } = openGit();
    const failed = assert.rejects(git.text(root, STATUS), { code: 'git_failed', message: /SIGTERM/ });
    await until(() => findFilter() > 0, 'the filter');
    close();
    await failed;
    await until(() => !isRunning(findFilter()), 'the end of the filter');
  });

  test('a git that a killed engine left ends with its filter when the next engine stops', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const { root, findFilter } = makeHangingFilter(t);
    const left = spawn('git', STATUS, {
      cwd: root,
      env: { ...process.env, SVC_ENGINE_CHILD: '0123456789ab' },
      stdio: 'ignore',
      detached: true,
    });
    t.after(() => left.kill('SIGKILL'));
    const ended = once(left, 'exit');
    await until(() => findFilter() > 0, 'the filter');
    const watch = watchLeftGits({ SVC_ENGINE_CHILD: '0123456789ab' });
    assert.equal(left.exitCode ?? left.signalCode, null);
    watch.close();
    assert.deepEqual(await ended, [null, 'SIGTERM']);
    await until(() => !isRunning(findFilter()), 'the end of the filter');
  });
});

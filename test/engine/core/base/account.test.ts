import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { accountName, homeOfUser } from '../../../../engine/core/base/account.ts';
import { resolveMachineHome } from '../../../../engine/core/workspace/machine-home.ts';
import { folderOf, giveFolderTo, runAs, type TestUser } from '../../../support/hostile.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { SVC } from '../../../support/workspaces/workspace.ts';

test('a user has the name from the system, and the home from HOME', () => {
  assert.equal(accountName(), userInfo().username);
  assert.equal(homeOfUser({ HOME: '/somewhere' }), '/somewhere');
  assert.equal(resolveMachineHome({ HOME: '/somewhere' }), '/somewhere/.config/svc');
  assert.equal(resolveMachineHome({ HOME: '/somewhere', SVC_HOME: '/elsewhere' }), '/elsewhere');
});

test('a user without an entry in the system is a number, and no command hangs', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run a program as a user that does not exist');
  const unlisted: TestUser = { label: 'unlisted', name: '', uid: 54_321, gid: 54_321, isRoot: false };
  const work = folderOf(unlisted);
  writeFileSync(join(work, 'svc.yaml'), '');
  giveFolderTo(work, unlisted);
  const svc = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    runAs(unlisted, ['timeout', '20', process.execPath, SVC, ...args], {
      cwd: work,
      env: { PATH: process.env.PATH, ...env },
    });
  for (const env of [{ HOME: join(work, 'home') }, { SVC_HOME: join(work, 'home') }]) {
    const added = await svc(env, 'task', 'add', 'x', '--json');
    assert.equal(added.code, 0, added.stderr);
    const shown = await svc(env, 'task', 'show', 't-1', '--json');
    assert.match(shown.stdout, /"54321"/);
    assert.equal((await svc(env, 'doctor')).code < 2, true);
    assert.equal((await svc(env, 'down')).code, 0);
    await runAs(unlisted, ['rm', '-rf', join(work, '.svc')], { cwd: work });
  }
  // Without a home folder svc has no place for its files, and the error says so.
  const homeless = await svc({}, 'task', 'list');
  assert.equal(homeless.code, 2, homeless.stderr);
  assert.match(homeless.stderr, /hint: set HOME, or SVC_HOME/);
});

test('a home folder of another user, as in a container with the wrong user, ends no command with a stack', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run a program as another user');
  const unlisted: TestUser = { label: 'unlisted', name: '', uid: 54_321, gid: 54_321, isRoot: false };
  const work = folderOf(unlisted);
  const home = temporaryFolder();
  t.after(() => rmSync(home, { recursive: true }));
  const env = { PATH: process.env.PATH, HOME: home };
  const svc = (...args: string[]) => runAs(unlisted, [process.execPath, SVC, ...args], { cwd: work, env });
  assert.equal((await svc('--version')).code, 0);
  const added = await svc('task', 'list');
  assert.doesNotMatch(added.stderr, /^ +at /m);
});

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Session, WireValue } from '../../../../engine/index.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Opened {
  session_id: string;
  branch: string;
  folder: string;
  commit: string;
  is_new: boolean;
}

describe('svc worktree open', () => {
  let ws: TestWorkspace;
  let folder: string;
  let worktree: string;
  before(async () => {
    ws = await makeWorkspace();
    folder = `${ws.root}-s-1`;
    const prompt = '#agent: edit made.txt by the worker';
    const ran = await ws.svc(['task', 'add', '-p', prompt, '--run', '-f']);
    assert.equal(ran.code, 0, ran.stderr);
    const shown = await ws.svc(['worker', 'show', 's-1', '--json']);
    worktree = requireLocalPath(shown.json<WireValue<Session>>().worktree);
  });
  after(() => ws.close());

  const open = (...words: string[]) => ws.program(['worktree', 'open', ...words]);
  const openAsJson = async (...words: string[]): Promise<Opened> => {
    const { code, stdout, stderr } = await open(...words, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const tip = (): string => ws.repository.git('rev-parse', 'svc/s-1');
  const commit = (text: string): void => {
    writeFileSync(join(worktree, 'made.txt'), `${text}\n`);
    ws.repository.gitIn(worktree, 'commit', '-qam', text);
  };

  test('the command checks the work out next to the repository, on no branch, and runs no hook', async () => {
    const hooks = join(ws.root, '.githooks');
    mkdirSync(hooks);
    writeFileSync(join(hooks, 'post-checkout'), `#!/bin/sh\ntouch '${ws.repository.folder}/hooked'\n`);
    chmodSync(join(hooks, 'post-checkout'), 0o755);
    ws.repository.git('config', 'core.hooksPath', hooks);
    const { code, stdout, stderr } = await open('s-1');
    assert.equal(code, 0, stderr);
    assert.equal(stdout, `${folder}\n`);
    assert.match(stderr, /remove it with: git worktree remove/);
    assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), 'by the worker\n');
    assert.equal(ws.repository.gitIn(folder, 'rev-parse', 'HEAD'), tip());
    assert.equal(existsSync(join(ws.repository.folder, 'hooked')), false);
    const listed = await ws.svc(['worktree', 'list', '--json']);
    assert.equal(listed.json<unknown[]>().length, 1);
  });

  test('a second call moves the checkout forward and keeps the changes in it', async () => {
    writeFileSync(join(folder, 'README.md'), 'mine\n');
    writeFileSync(join(folder, 'note'), 'mine too\n');
    commit('newer');
    const opened = await openAsJson('s-1');
    assert.deepEqual(opened, {
      session_id: 's-1',
      branch: 'svc/s-1',
      folder,
      commit: tip(),
      is_new: false,
    });
    assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), 'newer\n');
    assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), 'mine\n');
    assert.equal((await openAsJson('s-1')).commit, opened.commit);
  });

  test('a change that would be overwritten prevents the move, and is kept', async () => {
    writeFileSync(join(folder, 'made.txt'), 'my own\n');
    commit('newest');
    const refused = await open('s-1');
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /made\.txt/);
    assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), 'my own\n');
  });

  test('a commit that the session does not have prevents the move', async () => {
    ws.repository.gitIn(folder, 'commit', '-qam', 'mine');
    const refused = await open('s-1');
    assert.match(refused.stderr, /has commits that the session does not have/);
    assert.match(refused.stderr, /switch -c/);
  });

  test('a folder that is something else is left alone', async () => {
    const other = join(ws.repository.folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'kept'), '');
    for (const words of [
      ['s-1', other],
      ['s-1', ws.root],
      ['s-1', worktree],
      ['s-1', join(other, 'kept')],
    ]) {
      const refused = await open(...words);
      assert.match(refused.stderr, /is not an earlier checkout/, words.join(' '));
    }
    assert.match((await open('s-1', join(other, 'kept/below'))).stderr, /error/);
    assert.match((await open('s-9')).stderr, /s-9/);
    assert.equal(existsSync(join(other, 'kept')), true);
  });

  test('a promotion and a discard leave the checkout alone', async () => {
    const promoted = await ws.svc(['worktree', 'promote', 's-1']);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), 'my own\n');
    assert.match((await open('s-1')).stderr, /there is no branch svc\/s-1/);
    ws.repository.git('worktree', 'remove', '--force', folder);
  });
});

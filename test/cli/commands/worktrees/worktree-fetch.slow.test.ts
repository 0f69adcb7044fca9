import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Session, WireValue } from '../../../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('a pull request as the base', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  const git = (...args: string[]): string => ws.repository.git(...args);
  const tip = (ref: string): string => git('rev-parse', ref).trim();
  let count = 0;
  beforeEach(() => {
    for (const name of git('remote').split('\n').filter(Boolean)) git('remote', 'remove', name);
  });

  /** Adds an empty remote and returns how a commit becomes the head of a pull request there. */
  function addRemote(name: string, namespace = 'pull') {
    count += 1;
    const bare = join(ws.repository.folder, `${name}-${count}.git`);
    execFileSync('git', ['init', '-q', '--bare', bare]);
    git('remote', 'add', name, bare);
    return (number: number, text: string, onto = 'HEAD'): string => {
      git('checkout', '-q', '--detach', onto);
      ws.repository.commit({ 'asked.txt': `${text}\n` }, text);
      const commit = tip('HEAD');
      git('push', '-q', '--force', name, `${commit}:refs/${namespace}/${number}/head`);
      git('checkout', '-q', '-');
      return commit;
    };
  }

  const fetch = (...words: string[]) => ws.svc(['worktree', 'fetch', ...words]);

  async function runFrom(number: number): Promise<WireValue<Session>> {
    const ran = await ws.svc([
      'run',
      `#agent: edit made.txt ${Math.random()}`,
      '--pr',
      String(number),
      '-f',
      '--json',
    ]);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    const { task } = ran.json<{ task: { session_id: string } }>();
    return (await ws.svc(['worker', 'show', task.session_id, '--json'])).json();
  }

  test('a run starts at its head, is promoted into its branch, and the next run continues from there', async () => {
    const ask = addRemote('origin');
    const head = ask(12, 'asked');
    const session = await runFrom(12);
    assert.equal(session.base, 'pr-12');
    assert.equal(session.base_commit, head);
    assert.equal((await ws.svc(['worktree', 'promote', session.session_id])).code, 0);
    const promoted = tip('pr-12');
    assert.notEqual(promoted, head);
    assert.equal((await runFrom(12)).base_commit, promoted);
    // Its author adds a commit on top of what was promoted.
    const next = ask(12, 'asked for more', 'pr-12');
    assert.equal((await runFrom(12)).base_commit, next);
  });

  test('a branch that has diverged is not moved, and the error names both ways on', async () => {
    const ask = addRemote('origin');
    ask(20, 'first');
    assert.equal((await fetch('#20')).stdout, 'pr-20\n');
    const mine = tip('pr-20');
    ask(20, 'rewritten');
    const { code, stderr } = await fetch('20');
    assert.equal(code, 5);
    assert.match(stderr, /pr-20 and #20 have diverged\nhint: --base pr-20 takes it as it is/);
    assert.equal(tip('pr-20'), mine);
  });

  test('GitLab has merge requests, and a fork has those of its original', async () => {
    const ask = addRemote('gitlab', 'merge-requests');
    const asked = ask(3, 'a merge request');
    assert.equal((await fetch('3')).code, 0);
    assert.equal(tip('pr-3'), asked);
    addRemote('origin')(4, 'in the fork');
    const original = addRemote('upstream')(4, 'in the original');
    assert.equal((await fetch('4')).code, 0);
    assert.equal(tip('pr-4'), original);
  });

  test('a number without a pull request, two bases, and a repository without remotes are refused', async () => {
    const says = async (words: string[], code: number, text: RegExp): Promise<void> => {
      const ran = await ws.svc(words);
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, text);
    };
    await says(['worktree', 'fetch', '9'], 4, /no remote to fetch #9 from/);
    addRemote('origin');
    await says(['worktree', 'fetch', '9'], 4, /no pull request #9 at origin/);
    await says(['run', 'x', '--pr', '9'], 4, /no pull request #9 at origin/);
    await says(['run', 'x', '--pr', '9', '--base', 'main'], 2, /two bases/);
    await says(['worktree', 'fetch', '../../x'], 2, /not the number of a pull request/);
    assert.deepEqual((await ws.svc(['task', 'list', '--status', 'open', '--json'])).json(), []);
  });

  test('a remote whose address a worker has changed is not asked', async () => {
    const ask = addRemote('origin');
    ask(30, 'asked');
    await ws.svc(['run', 'x\n#agent: run git config remote.origin.url /elsewhere', '-f']);
    const { code, stderr } = await fetch('30');
    assert.notEqual(code, 0);
    assert.match(stderr, /changed during a run: remote\.origin\.url\nhint: svc worktree settings s-\d+/);
  });

  test('the hint for a branch that only a remote has says how to get it', async () => {
    addRemote('origin');
    git('push', '-q', 'origin', 'HEAD:refs/heads/elsewhere');
    git('fetch', '-q', 'origin');
    const ran = await ws.svc(['run', 'x', '--base', 'elsewhere', '-f']);
    assert.match(ran.stdout, /no branch or commit "elsewhere".*git branch 'elsewhere' 'origin\/elsewhere'/);
  });
});

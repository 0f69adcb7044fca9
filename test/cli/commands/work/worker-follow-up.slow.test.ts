import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Session, Task, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc worker follow-up with comments and conflicts', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  async function ran(prompt: string): Promise<string> {
    const added = await ws.svc(['task', 'add', '-p', prompt, '--run', '-f', '--json']);
    assert.equal(added.code, 0, added.stderr);
    return added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail();
  }
  async function ended(session: string): Promise<WireValue<Session>> {
    const show = async () => (await ws.svc(['worker', 'show', session, '--json'])).json<WireValue<Session>>();
    await until(async () => (await show()).state === 'ended');
    return show();
  }

  test('comments on a diff are sent as one message, and are used up', async () => {
    const session = await ran('#agent: edit made.txt by the worker');
    const none = await ws.svc(['worker', 'follow-up', session, '--comments']);
    assert.deepEqual([none.code, /^error: s-\d+ has no comments/.test(none.stderr)], [4, true]);
    const kept = await ws.svc(['worker', 'comment', session, 'made.txt:1', 'Say', 'who.']);
    assert.match(kept.stdout, /^comment \d+ saved: made\.txt:1 {2}by the worker$/m);
    const shown = await ws.svc(['worker', 'comment', session]);
    assert.match(shown.stdout, /^\d+ {2}made\.txt:1\n {3}> by the worker\n {3}Say who\.$/m);
    assert.match(shown.stderr, new RegExp(`svc worker follow-up ${session} --comments`));
    for (const wrong of [['made.txt'], ['made.txt:0', 'x'], ['made.txt:1']])
      assert.equal((await ws.svc(['worker', 'comment', session, ...wrong])).code, 2);

    const extra = await ws.svc(['worker', 'comment', session, 'made.txt:1', '--old', 'x']);
    assert.equal(extra.code, 4);
    const sent = await ws.svc([
      'worker',
      'follow-up',
      session,
      '--comments',
      '#agent: edit made.txt me',
      '--json',
    ]);
    assert.equal(sent.code, 0, sent.stderr);
    const { task, session: next } = sent.json<{ task: WireValue<Task>; session: WireValue<Session> }>();
    assert.match(
      task.body,
      /^#agent: edit made\.txt me\n\nDeal with 1 comment on your work in s-\d+:\n\nmade\.txt:1\n> by the worker\nSay who\.$/,
    );
    assert.equal((await ended(next.session_id)).failure, null);
    assert.equal((await ws.svc(['worker', 'comment', next.session_id])).stdout, '');
  });

  test('a comment is removed by its number', async () => {
    const session = await ran('#agent: edit other.txt by the worker');
    await ws.svc(['worker', 'comment', session, 'other.txt:1', 'No.']);
    const { comments } = (await ws.svc(['worker', 'comment', session, '--json'])).json<{
      comments: { comment_id: number }[];
    }>();
    const id = String(comments[0]?.comment_id);
    assert.equal((await ws.svc(['worker', 'comment', 's-1', '--remove', id])).code, 4);
    assert.equal((await ws.svc(['worker', 'comment', session, '--remove', id])).code, 0);
    assert.equal((await ws.svc(['worker', 'comment', session])).stdout, '');
  });

  test('a conflict is offered as one command, with which the worker merges the base and promoting succeeds', async () => {
    const session = await ran('#agent: edit README.md from the worker');
    ws.repository.commit({ 'README.md': 'one\ntwo\nthree\nfrom a person\n' });
    const promoted = await ws.svc(['worktree', 'promote', session]);
    const command = `svc worker follow-up ${session} --conflicts`;
    assert.deepEqual(
      [promoted.code, promoted.stderr.includes(`hint: ${command} makes its worker merge main`)],
      [5, true],
    );
    const tried = await ws.svc(['worktree', 'trial', session]);
    assert.ok(tried.stderr.includes(command), tried.stderr);

    const resolve = [
      '#agent: no-change',
      '#agent: run git merge main || true',
      "#agent: run printf 'one\\ntwo\\nthree\\nfrom a person\\nfrom the worker\\n' > README.md",
      '#agent: run git add README.md && git -c user.name=a -c user.email=a@b commit -qm resolved',
    ].join('\n');
    const sent = await ws.svc(['worker', 'follow-up', session, '--conflicts', resolve, '--json']);
    assert.equal(sent.code, 0, sent.stderr);
    const { task, session: next } = sent.json<{ task: WireValue<Task>; session: WireValue<Session> }>();
    assert.match(task.body, /Merge main into your branch svc\/s-\d+[\s\S]*^- README\.md$/m);
    assert.equal((await ended(next.session_id)).failure, null);
    const again = await ws.svc(['worker', 'follow-up', next.session_id, '--conflicts']);
    assert.deepEqual([again.code, /has no conflicts with main/.test(again.stderr)], [5, true]);
    const done = await ws.svc(['worktree', 'promote', next.session_id]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(
      ws.repository.git('show', 'main:README.md'),
      'one\ntwo\nthree\nfrom a person\nfrom the worker',
    );
  });

  test('a message says when it will be read, and that an ended worker never reads it', async () => {
    const { stdout } = await ws.svc(['task', 'add', '-p', '#agent: hang', '--run', '--json']);
    const { session } = JSON.parse(stdout) as { session: WireValue<Session> };
    const id = session.session_id;
    const told = await ws.svc(['worker', 'steer', id, 'leave', 'the', 'tests']);
    assert.match(told.stdout, new RegExp(`^message \\d+: ${id} reads it when it checks its inbox`));
    const now = await ws.svc(['worker', 'steer', id, '--now', 'stop']);
    assert.deepEqual([now.code, /cannot be interrupted/.test(now.stderr)], [5, true]);
    const { stderr } = await ws.svc(['msg', 'send', 'hello', '--to-session', id]);
    assert.match(stderr, new RegExp(`^${id} reads it when it checks`, 'm'));
    await ws.svc(['worker', 'kill', id]);
    await ended(id);
    const late = await ws.svc(['worker', 'steer', id, 'again']);
    assert.equal(late.code, 5);
    assert.match(late.stderr, new RegExp(`hint: svc worker follow-up ${id} "…"`));
    const sent = await ws.svc(['msg', 'send', 'hello', '--to-session', id]);
    assert.equal(sent.code, 0);
    assert.match(sent.stderr, new RegExp(`${id} has ended and does not read it; svc worker follow-up ${id}`));
  });

  test('--base names another branch to merge, and requires --conflicts', async () => {
    assert.equal((await ws.svc(['worker', 'follow-up', 's-1', 'x', '--base', 'main'])).code, 2);
  });
});

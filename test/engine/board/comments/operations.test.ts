import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeRig, type Rig } from '../../dispatch/rig.ts';

describe('comments on lines of a diff', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  const work = async (...directives: string[]) => {
    const { session_id } = await rig.run(directives);
    return (await rig.settled(session_id)).session_id;
  };
  const list = async (session: string) => (await rig.here().call('comment.list', { session })).comments;
  const add = (session: string, path: string, line: number, body: string, more: object = {}) =>
    rig.here().call('comment.add', { session, path, line, body, ...more });

  test('have the line as it is at the end of the branch or where it began, and outlive the engine', async () => {
    const session = await work('edit README.md by the worker');
    const { head, patch } = await rig.here().call('worktree.diff', { session });
    assert.match(patch.text, /^\+by the worker$/m);
    const last = await add(session, 'README.md', 4, 'Say why.');
    assert.deepEqual([last.text, last.head, last.side], ['by the worker', head, 'new']);
    const old = await add(session, 'README.md', 1, 'This was better.', { side: 'old' });
    assert.equal(old.text, 'one');
    await rig.down();
    await rig.up();
    assert.deepEqual(
      (await list(session)).map(({ line, body, outdated }) => [line, body, outdated]),
      [
        [1, 'This was better.', false],
        [4, 'Say why.', false],
      ],
    );
    await rig.here().call('comment.remove', { id: old.comment_id });
    assert.deepEqual(
      (await list(session)).map((each) => each.line),
      [4],
    );
    await assert.rejects(rig.here().call('comment.remove', { id: old.comment_id }), { code: 'not_found' });
  });

  test('a second one on the same line of the same version takes the place of the first', async () => {
    const session = await work('edit one.txt more');
    await add(session, 'one.txt', 1, 'first');
    await add(session, 'one.txt', 1, 'second');
    assert.deepEqual(
      (await list(session)).map((each) => each.body),
      ['second'],
    );
  });

  test('are refused for what is no line of the repository, whatever the path says', async () => {
    const session = await work('edit two.txt more');
    for (const path of [
      '../../etc/passwd',
      '/etc/passwd',
      './two.txt',
      'a//b',
      '.git/../two.txt',
      'two.txt\n',
    ])
      await assert.rejects(add(session, path, 1, 'x'), { code: 'fields_invalid' }, path);
    await assert.rejects(add(session, 'three.txt', 1, 'x'), { code: 'not_found', message: /no file/ });
    await assert.rejects(add(session, 'two.txt', 99, 'x'), { code: 'not_found', message: /no line 99/ });
    await assert.rejects(add(session, 'two.txt', 1, '  '), { code: 'fields_invalid' });
    await assert.rejects(add(session, 'two.txt', 1, 'x', { head: '0'.repeat(40) }), {
      code: 'conflict',
      message: /has moved to/,
    });
    assert.deepEqual(await list(session), []);
  });

  test('are on an older version once the branch has moved on, and a follow-up takes them once', async () => {
    const session = await work('edit three.txt more');
    const kept = await add(session, 'three.txt', 1, 'Call it four.');
    const send = (comments: number[]) =>
      rig.here().call('worker.follow_up', {
        session,
        prompt: 'do it\n#agent: edit three.txt again',
        comments,
      });
    await assert.rejects(send([kept.comment_id, 9999]), { code: 'conflict', message: /comment 9999/ });
    assert.equal((await list(session)).length, 1);
    const other = await add(session, 'three.txt', 1, 'Left for later.', { side: 'new' });
    const { comment_id: own } = (await list(session)).find((each) => each.body === 'Left for later.')!;
    assert.equal(own, other.comment_id);
    const { session: next } = await rig.here().call('worker.follow_up', {
      session,
      prompt: 'do it\n#agent: edit three.txt again',
    });
    await rig.settled(next.session_id);
    const seen = await list(next.session_id);
    assert.deepEqual(
      seen.map(({ body, outdated, session_id }) => [body, outdated, session_id]),
      [['Left for later.', true, session]],
    );
    const calls = await Promise.allSettled(
      [1, 2, 3].map(() =>
        rig.here().call('worker.follow_up', {
          session: next.session_id,
          prompt: 'do it\n#agent: no-change',
          comments: [own],
        }),
      ),
    );
    assert.equal(calls.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.deepEqual(await list(next.session_id), []);
  });
});

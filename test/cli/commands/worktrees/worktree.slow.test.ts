import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Session, SessionTrial, Task, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc worktree trial', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  /** Creates an ended run; returns its session. */
  async function ran(prompt: string): Promise<string> {
    const added = await ws.svc(['task', 'add', '-p', prompt, '--run', '-f', '--json']);
    assert.equal(added.code, 0, added.stderr);
    return added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail();
  }
  const trial = async (session: string, ...more: string[]) => {
    const { code, json } = await ws.svc(['worktree', 'trial', session, ...more, '--json']);
    return { code, tried: json<WireValue<SessionTrial>>() };
  };

  test('trial reports a clean merge, and promote takes the commit that was inspected', async () => {
    const session = await ran('#agent: edit made.txt by the worker');
    const { code, tried } = await trial(session);
    assert.equal(code, 0);
    assert.deepEqual(
      [tried.session_id, tried.base, tried.promotable, tried.already_merged, tried.ahead, tried.behind],
      [session, 'main', true, false, 1, 0],
    );
    assert.equal(tried.checkout.state, 'clean');
    const text = await ws.svc(['worktree', 'trial', session]);
    assert.match(text.stdout, /^promoting +svc\/s-\d+ into main would go through$/m);

    const before = ws.repository.git('for-each-ref');
    const moved = await ws.svc(['worktree', 'promote', session, '--head', '0'.repeat(40), '--json']);
    assert.deepEqual([moved.code, moved.json<{ error: { code: string } }>().error.code], [5, 'conflict']);
    assert.equal(ws.repository.git('for-each-ref'), before);
    assert.equal((await ws.svc(['worktree', 'promote', session, '--head', tried.head, '--keep'])).code, 0);
    const again = await trial(session);
    assert.deepEqual([again.code, again.tried.already_merged, again.tried.ahead], [0, true, 0]);
  });

  test('trial exits with code 5 and names the obstacle', async () => {
    const session = await ran('#agent: edit README.md from the worker');
    ws.repository.write('README.md', 'being edited\n');
    const dirty = await trial(session);
    assert.deepEqual([dirty.code, dirty.tried.checkout.state], [5, 'dirty']);
    assert.deepEqual(dirty.tried.checkout.paths, ['README.md']);
    ws.repository.commit({ 'README.md': 'one\ntwo\nthree\nfrom a person\n' });
    const { code, tried } = await trial(session);
    assert.deepEqual([code, tried.conflicts, tried.behind > 0], [5, ['README.md'], true]);
    const { stdout } = await ws.svc(['worktree', 'trial', session]);
    assert.match(stdout, /would not go through$/m);
    assert.match(stdout, /^conflicts +README\.md$/m);
    ws.repository.git('branch', 'before', 'HEAD~1');
    assert.equal((await trial(session, '--base', 'before')).code, 0);
  });

  test('trial names the new name of a renamed base, or the checked-out branch', async () => {
    const session = await ran('#agent: edit renamed.txt by the worker');
    const promote = (...more: string[]) => ws.svc(['worktree', 'promote', session, ...more, '--json']);
    type Refused = { error: { code: string; message: string; hint: string } };
    ws.repository.git('branch', '-m', 'main', 'middle');
    ws.repository.git('branch', '-m', 'middle', 'trunk');
    const { error } = (await promote()).json<Refused>();
    assert.equal(error.code, 'not_found');
    assert.match(error.message, /no branch "main" in .*: it was renamed to trunk$/);
    assert.match(error.hint, /^--base trunk /);
    const tried = await ws.svc(['worktree', 'trial', session]);
    assert.match(tried.stderr, /renamed to trunk.*--base trunk/s);
    const unknown = (await promote('--base', 'never')).json<Refused>().error;
    assert.doesNotMatch(unknown.message, /renamed/);
    assert.match(unknown.hint, /^--base trunk names what is checked out there/);
    assert.equal((await promote('--base', 'trunk')).code, 0);
    ws.repository.git('branch', '-m', 'trunk', 'main');
  });

  test('trial requires an ended session and the Chair', async () => {
    const added = await ws.svc(['task', 'add', '-p', '#agent: hang', '--run', '--json']);
    const { session } = added.json<{ session: WireValue<Session> }>();
    const live = await ws.svc(['worktree', 'trial', session.session_id, '--json']);
    assert.deepEqual([live.code, live.json<{ error: { code: string } }>().error.code], [5, 'conflict']);
    assert.equal((await ws.svc(['worktree', 'trial', 's-99'])).code, 4);
    const asWorker = { env: { SVC_RUN_ID: 'of another workspace' } };
    assert.equal((await ws.svc(['worktree', 'trial', 's-1'], asWorker)).code, 3);
    await ws.svc(['task', 'cancel', session.task_id]);
  });
});

describe('svc worktree promote --squash', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  async function ran(title: string, prompt: string): Promise<string> {
    const added = await ws.svc(['task', 'add', title, '-p', prompt, '--run', '-f', '--json']);
    assert.equal(added.code, 0, added.stderr);
    return added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail();
  }
  async function followUp(session: string, prompt: string): Promise<string> {
    const followed = await ws.svc(['worker', 'follow-up', session, prompt, '--json']);
    const { session: next } = followed.json<{ session: WireValue<Session> }>();
    const show = async () =>
      (await ws.svc(['worker', 'show', next.session_id, '--json'])).json<WireValue<Session>>();
    await until(async () => (await show()).state === 'ended', 'the follow-up');
    return next.session_id;
  }
  const readMessage = () => ws.repository.git('log', '-1', '--format=%B', 'main').trimEnd();
  const countCommits = () => Number(ws.repository.git('rev-list', '--count', 'main'));

  test('a squash names what a worker did not commit after its task, and can be undone', async () => {
    const long = `Fix   the login ${'of everyone '.repeat(8)}`;
    const session = await ran(long, '#agent: edit made.txt one\n#agent: dirty');
    const branch = `svc/${session}`;
    assert.match(ws.repository.git('log', '-1', '--format=%s', branch), /^svc: work in progress of/);
    const before = countCommits();
    const promoted = await ws.svc(['worktree', 'promote', session, '--squash']);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.match(promoted.stdout, /^promoted +svc\/s-\d+ into main \(squash\)$/m);
    assert.match(promoted.stdout, /^worktree +removed$/m);
    assert.match(readMessage(), /^Fix the login of everyone[^\n]{1,45}…$/);
    assert.equal(countCommits(), before + 1);
    const undone = await ws.svc(['worktree', 'undo', session]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.deepEqual([countCommits(), ws.repository.git('status', '--porcelain')], [before, '']);

    const written = ['-m', 'Mine', '--message', 'Because of it.'];
    assert.equal((await ws.svc(['merge', session, '--squash', ...written])).code, 0);
    assert.equal(readMessage(), 'Mine\n\nBecause of it.');
  });

  test('the work of a follow-up is squashed under the title of the first task', async () => {
    const session = await ran('First title', '#agent: edit first.txt one');
    const next = await followUp(session, '#agent: edit first.txt two');
    const trial = await ws.svc(['worktree', 'trial', next, '--json']);
    assert.equal(trial.json<WireValue<SessionTrial>>().subject, 'First title');
    const before = countCommits();
    const promoted = await ws.svc(['worktree', 'promote', next, '--strategy', 'squash']);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.deepEqual([readMessage().split('\n')[0], countCommits()], ['First title', before + 1]);
  });

  test('the work after a promotion is squashed under the title of the task that followed', async () => {
    const session = await ran('Promoted before', '#agent: edit kept.txt one');
    assert.equal((await ws.svc(['worktree', 'promote', session, '--squash', '--keep'])).code, 0);
    const next = await followUp(session, '#agent: edit later.txt two');
    const trial = await ws.svc(['worktree', 'trial', next, '--json']);
    assert.notEqual(trial.json<WireValue<SessionTrial>>().subject, 'Promoted before');
    const before = countCommits();
    const promoted = await ws.svc(['worktree', 'promote', next, '--squash']);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.equal(countCommits(), before + 1);
  });

  test('a message is refused for a rebase and without text, and nothing changes', async () => {
    const session = await ran('Refused', '#agent: edit refused.txt one');
    const before = ws.repository.git('for-each-ref');
    for (const [wrong, why] of [
      [['--strategy', 'rebase', '-m', 'x'], /a rebase keeps the messages of the commits/],
      [['--strategy', 'rebase', '--squash'], /--squash contradicts --strategy rebase/],
      [['-m', ' ', '-m', ''], /the message is empty/],
      [['-m', 'x'.repeat(20_001)], /message/],
    ] as const) {
      const refused = await ws.svc(['worktree', 'promote', session, ...wrong]);
      assert.deepEqual([refused.code, why.test(refused.stderr)], [2, true], refused.stderr);
    }
    assert.equal(ws.repository.git('for-each-ref'), before);
    assert.equal((await ws.svc(['worktree', 'promote', session, '-m', 'Merged by hand'])).code, 0);
    assert.equal(readMessage(), 'Merged by hand');
  });

  test('a squash with conflicts names the paths and changes nothing', async () => {
    const session = await ran('Conflicts', '#agent: edit README.md from the worker');
    ws.repository.commit({ 'README.md': 'one\ntwo\nthree\nfrom a person\n' });
    const before = ws.repository.git('for-each-ref');
    const refused = await ws.svc(['worktree', 'promote', session, '--squash']);
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /the squash stops at conflicts in README\.md; nothing was changed/);
    assert.equal(ws.repository.git('for-each-ref'), before);
  });
});

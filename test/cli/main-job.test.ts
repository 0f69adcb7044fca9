import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { platform } from '../../engine/core/platform/index.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Shown {
  task: {
    task_id: string;
    status: string;
    session_id: string;
    failure: { code: string; text: string } | null;
    attempt: number;
  };
  decision: {
    decision_id: string;
    state: string;
    decided_by: string;
    decided_via: string;
    consumed_at: string | null;
  } | null;
  sessions: { session_id: string; branch: string; worktree: string | null; commits: number; state: string }[];
  timeline: { kind: string }[];
}

describe('the main job from the command line', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  const show = async (id: string): Promise<Shown> =>
    (await ws.program(['task', 'show', id, '--json'])).json<Shown>();

  test('a signed request waits, is approved once, runs in a worktree and is sealed with a commit on its branch', async () => {
    await ws.program(['up']);
    const { status, body } = await ws.post('#agent: edit made.txt by the worker');
    assert.equal(status, 201);
    assert.deepEqual([body.dispatched, body.session_id], [false, null]);
    assert.equal((await ws.catcher.received('needs_approval')).decision_id, body.decision_id);

    const waiting = (await ws.program(['decision', 'list', '--json'])).json<
      { decision_id: string; hash: string }[]
    >();
    assert.deepEqual(
      waiting.map((each) => each.decision_id),
      [body.decision_id],
    );
    const wrong = await ws.program(['decision', 'approve', String(body.decision_id), '--hash', 'not-this']);
    assert.equal(wrong.code, 5);
    const approved = await ws.program([
      'decision',
      'approve',
      String(body.decision_id),
      '--hash',
      waiting[0]!.hash,
      '-f',
    ]);
    assert.equal(approved.code, 0, approved.stderr);
    assert.match(approved.stdout, /editing made\.txt/);

    const { task, decision, sessions } = await show(String(body.task_id));
    assert.equal(task.status, 'done');
    assert.equal(decision?.decided_via, 'cli');
    assert.notEqual(decision?.consumed_at, null);
    const [session] = sessions;
    assert.equal(ws.repository.git('show', `${session?.branch}:made.txt`), 'by the worker');
    assert.equal(ws.repository.git('status', '--porcelain'), '');
    const sealed = await ws.catcher.received('sealed');
    assert.deepEqual(
      [sealed.task_id, sealed.session_id, sealed.status, sealed.verified],
      [task.task_id, session?.session_id, 'done', true],
    );
    assert.ok(ws.events.every((event) => event.verified));
    assert.deepEqual(ws.survivors(), []);
  });

  test('a promoted branch is on base, its worktree is gone, and the checkout is updated', async () => {
    const [session] = (await ws.program(['worktree', 'list', '--json'])).json<{ session_id: string }[]>();
    const promoted = await ws.program(['worktree', 'promote', String(session?.session_id), '--json']);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.equal(ws.repository.git('show', 'main:made.txt'), 'by the worker');
    assert.equal(ws.repository.git('status', '--porcelain'), '');
    assert.deepEqual((await ws.program(['worktree', 'list', '--json'])).json(), []);
    await ws.catcher.received('worktree_promoted');
  });

  test('a denied decision fails the task with its reason, starts nothing, and cannot be approved any more', async () => {
    const { body } = await ws.post('no');
    assert.equal(
      (await ws.program(['decision', 'deny', String(body.decision_id)])).code,
      2,
      'a reason is required',
    );
    assert.equal((await ws.program(['decision', 'deny', String(body.decision_id), 'not', 'today'])).code, 0);
    const approved = await ws.program(['decision', 'approve', String(body.decision_id)]);
    assert.equal(approved.code, 5);
    const { task, sessions } = await show(String(body.task_id));
    assert.deepEqual([task.status, task.failure?.code, sessions.length], ['failed', 'denied', 0]);
    assert.match(task.failure?.text ?? '', /not today/);
  });

  test('a failed run says so, keeps its dirty end as a commit, and can be tried again', async () => {
    const ran = await ws.program([
      'task',
      'add',
      'breaks',
      '-p',
      '#agent: dirty\n#agent: fail 3',
      '--run',
      '-f',
      '--json',
    ]);
    assert.equal(ran.code, 1);
    const { task } = ran.json<{ task: Shown['task'] }>();
    assert.deepEqual([task.status, task.failure?.code], ['failed', 'exit_code']);
    const { sessions } = await show(task.task_id);
    assert.equal(sessions[0]?.commits, 1);
    assert.match(
      ws.repository.git('log', '-1', '--format=%s', String(sessions[0]?.branch)),
      /work in progress/,
    );
    assert.equal((await ws.catcher.received('failed')).reason, 'scripted exited with code 3');
    const again = await ws.program(['task', 'retry', task.task_id, '-f', '--json']);
    assert.equal(again.code, 1);
    const after = await show(task.task_id);
    assert.deepEqual([after.task.attempt, after.sessions.length], [2, 2]);
  });

  test('a task cancelled while it runs ends as cancelled and leaves no process', async () => {
    const added = await ws.program(['task', 'add', 'hangs', '-p', '#agent: hang', '--run', '--json']);
    const { task } = added.json<{ task: Shown['task'] }>();
    const client = await ws.connect();
    await new Promise<void>((resolve) => {
      void client.subscribe('events.subscribe', { after: 0 }, ({ params }) => {
        const event = params.event as { kind: string; task_id: string };
        if (event.kind === 'session_started' && event.task_id === task.task_id) resolve();
      });
    });
    assert.equal((await ws.program(['task', 'cancel', task.task_id])).code, 0);
    assert.equal((await ws.program(['task', 'log', task.task_id, '-f'])).code, 0);
    const { task: ended } = await show(task.task_id);
    assert.deepEqual([ended.status, ended.failure?.code], ['failed', 'cancelled']);
    assert.deepEqual(ws.survivors(), []);
  });

  test('ids are found by a unique prefix; an ambiguous or unknown one has its own error', async () => {
    for (let count = 0; count < 10; count += 1) await ws.program(['task', 'add', `number ${count}`]);
    assert.equal((await ws.program(['task', 'show', 't-1'])).code, 0, 'an exact id wins over longer ones');
    assert.equal((await ws.program(['task', 'show', 't-99'])).code, 4);
    assert.equal((await ws.program(['task', 'show', 'nonsense'])).code, 4);
  });

  test('a worker can neither approve, run nor promote', async () => {
    const held = (await ws.program(['task', 'add', 'held', '-a', 'scripted', '--json'])).json<{
      task_id: string;
    }>();
    const client = await ws.connect();
    const ran = (await ws.program(['task', 'add', 'hangs', '-p', '#agent: hang', '--run', '--json'])).json<{
      task: Shown['task'];
      session: { session_id: string };
    }>();
    await new Promise<void>((resolve) => {
      void client.subscribe('events.subscribe', { after: 0 }, ({ params }) => {
        const event = params.event as { kind: string; task_id: string };
        if (event.kind === 'session_started' && event.task_id === ran.task.task_id) resolve();
      });
    });
    const sessions = await client.call('session.list', { live: true });
    const pid = sessions.find((each) => each.session_id === ran.session.session_id)?.pid;
    const mark = platform.processes.readVariable(pid ?? 0, 'SVC_RUN_ID') ?? '';
    const asWorker = { env: { SVC_RUN_ID: mark } };
    for (const args of [
      ['task', 'run', held.task_id],
      ['task', 'retry', 't-3'],
      ['worktree', 'promote', 's-1'],
      ['decision', 'deny', 'd-1', 'x'],
      ['down'],
    ]) {
      const refused = await ws.program([...args, '--json'], asWorker);
      assert.equal(refused.code, 3, args.join(' '));
      assert.equal(refused.json<{ error: { code: string } }>().error.code, 'chair_only');
    }
    assert.equal((await ws.program(['task', 'list'], asWorker)).code, 0);
    await ws.program(['task', 'cancel', ran.task.task_id]);
  });
});

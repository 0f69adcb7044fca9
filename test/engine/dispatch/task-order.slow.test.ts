import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { until } from '../../support/wait.ts';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { makeRig, type Rig } from './rig.ts';

describe('a task that waits for others', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  const add = async (directives: readonly string[], wish: object = {}): Promise<string> => {
    const body = ['do it', ...directives.map((each) => `#agent: ${each}`)].join('\n');
    return (await rig.here().call('task.add', { body, agent: 'claude', ...wish })).task_id;
  };
  const run = async (id: string): Promise<string> =>
    (await rig.here().call('task.run', { id })).session.session_id;
  const readWait = async (session: string) => (await rig.session(session)).waits_for_task;
  const promote = (session: string) => rig.here().call('worktree.promote', { session });
  const merge = (branch: string): void => {
    execFileSync('git', ['merge', '--quiet', '--no-edit', branch], { cwd: rig.ws.root });
  };
  /** Adds a task that is done, with a commit that is not merged. */
  const work = async (file: string) => {
    const id = await add([`edit ${file} more`]);
    const session = await rig.settled(await run(id));
    assert.equal(session.failure, null);
    return { id, session };
  };

  test('an approved task waits until its predecessor is merged, and starts with the merged work', async () => {
    const first = await add(['edit one.txt more']);
    const second = await add(['no-change'], { after: [first] });
    const waiting = await run(second);
    assert.equal(await readWait(waiting), `${first}, which has not run yet`);
    const { session_id: worked } = await rig.settled(await run(first));
    assert.equal(await readWait(waiting), `${first}, whose work is not merged yet`);
    assert.equal((await rig.session(waiting)).state, 'queued');
    const planned = await rig.here().call('task.plan', { id: second });
    assert.deepEqual(
      [planned.starts, planned.waits_for_task],
      ['queued', `${first}, whose work is not merged yet`],
    );
    await promote(worked);
    const { failure, worktree } = await rig.settled(waiting);
    assert.equal(failure, null);
    assert.ok(readdirSync(requireLocalPath(worktree)).includes('one.txt'));
    const { after: known, waits_for } = await rig.task(second);
    assert.deepEqual([known, waits_for], [[first], null]);
  });

  test('a merge by hand starts both tasks that wait for it', async () => {
    const { id, session } = await work('two.txt');
    const both = await Promise.all([1, 2].map(async () => run(await add(['no-change'], { after: [id] }))));
    for (const each of both) assert.match((await readWait(each)) ?? '', /whose work is not merged yet$/);
    merge(session.branch ?? '');
    for (const each of both) assert.equal((await rig.settled(each)).failure, null);
  });

  test('a failed predecessor keeps it waiting until it succeeds', async () => {
    const first = await add(['fail 3']);
    await rig.settled(await run(first));
    const waiting = await run(await add(['no-change'], { after: [first] }));
    assert.equal(await readWait(waiting), `${first}, which failed`);
    await rig.here().call('task.retry', { id: first, hold: true });
    assert.equal(await readWait(waiting), `${first}, which has not run yet`);
    await rig.here().call('task.done', { id: first });
    assert.equal((await rig.settled(waiting)).failure, null);
  });

  test('the merged work of a failed predecessor is enough', async () => {
    const first = await add(['edit three.txt more', 'fail 3']);
    const { session_id: failed, commits } = await rig.settled(await run(first));
    assert.equal(commits, 1);
    const waiting = await run(await add(['no-change'], { after: [first] }));
    assert.equal(await readWait(waiting), `${first}, which failed`);
    await promote(failed);
    assert.equal((await rig.settled(waiting)).failure, null);
  });

  test('discarded and cancelled predecessors are named, and it starts without them once a person says so', async () => {
    const { id, session } = await work('four.txt');
    const cancelled = await add([]);
    await rig.here().call('task.cancel', { id: cancelled });
    const third = await add(['no-change'], { after: [id, cancelled] });
    const waiting = await run(third);
    await rig.here().call('worktree.discard', { session: session.session_id });
    assert.equal(await readWait(waiting), `${id}, whose work was discarded, and 1 more task`);
    const left = await rig.here().call('task.after', { id: third, after: [cancelled] });
    assert.deepEqual([left.after, left.waits_for], [[cancelled], `${cancelled}, which was cancelled`]);
    await rig.here().call('task.after', { id: third, after: [] });
    assert.equal((await rig.settled(waiting)).failure, null);
  });

  test('a predecessor that was finished before, or that never had work, does not hold it', async () => {
    const quiet = await add(['no-change']);
    await rig.settled(await run(quiet));
    const marked = await add([]);
    await rig.here().call('task.done', { id: marked });
    const { task_id: id, waits_for } = await rig
      .here()
      .call('task.add', { body: 'x\n#agent: no-change', agent: 'claude', after: [quiet, marked, quiet] });
    assert.equal(waits_for, null);
    assert.deepEqual((await rig.task(id)).after, [quiet, marked]);
    assert.equal((await rig.settled(await run(id))).failure, null);
  });

  test('a merge that is undone before it starts makes it wait again', async () => {
    const first = await work('nine.txt');
    const second = await work('ten.txt');
    const waiting = await run(await add(['no-change'], { after: [first.id, second.id] }));
    await promote(first.session.session_id);
    assert.equal(await readWait(waiting), `${second.id}, whose work is not merged yet`);
    await rig.here().call('worktree.undo', { session: first.session.session_id });
    await promote(second.session.session_id);
    assert.equal(await readWait(waiting), `${first.id}, whose work is not merged yet`);
    await promote(first.session.session_id);
    assert.equal((await rig.settled(waiting)).failure, null);
  });

  test('work that a follow-up continued is finished with the follow-up', async () => {
    const { id, session } = await work('five.txt');
    const { session: next } = await rig
      .here()
      .call('worker.follow_up', { session: session.session_id, prompt: '#agent: edit six.txt more' });
    const waiting = await run(await add(['no-change'], { after: [id] }));
    await rig.settled(next.session_id);
    assert.equal(await readWait(waiting), `${id}, whose work is not merged yet`);
    await promote(next.session_id);
    assert.equal((await rig.settled(waiting)).failure, null);
  });

  test('unknown, archived and circular predecessors are refused, and nothing changes', async () => {
    const here = rig.here();
    const first = await add([]);
    const second = await add([], { after: [first] });
    const third = await add([], { after: [second] });
    const count = await here.call('task.count', {});
    await assert.rejects(add([], { after: ['t-9999'] }), { code: 'not_found', message: 'no task t-9999' });
    await assert.rejects(here.call('task.start', { body: 'x', agent: 'claude', after: ['t-9999'] }), {
      code: 'not_found',
    });
    await assert.rejects(here.call('task.after', { id: first, after: [third] }), {
      code: 'conflict',
      message: `${first} cannot wait for ${third}, which waits for it: ${first} after ${third} after ${second} after ${first}`,
    });
    await assert.rejects(here.call('task.after', { id: first, after: [first] }), {
      code: 'conflict',
      message: `${first} cannot wait for itself`,
    });
    await here.call('task.cancel', { id: first });
    await here.call('task.archive', { ids: [first] });
    await assert.rejects(here.call('task.after', { id: third, after: [first] }), {
      code: 'conflict',
      message: `${first} is archived, so nothing can wait for it`,
    });
    assert.equal(await here.call('task.count', {}), count - 1);
    assert.deepEqual((await rig.task(third)).after, [second]);
  });

  test('a task that has started waits for nothing more', async () => {
    const first = await add([]);
    const { id } = await work('seven.txt');
    await assert.rejects(rig.here().call('task.after', { id, after: [first] }), {
      code: 'conflict',
      message: `${id} is done and cannot be put after another task`,
    });
  });

  test('a worker cannot change what a task waits for', async () => {
    const [first, second] = [await add([]), await add([])];
    for (const seat of ['worker', 'plain'] as const)
      await assert.rejects(
        rig.here().call('task.after', { id: second, after: [first] }, { seat, sessionId: 's-1' }),
        { code: 'chair_only' },
      );
  });

  test('the next engine keeps the order', async () => {
    const first = await add(['edit eight.txt more']);
    const waiting = await run(await add(['no-change'], { after: [first] }));
    const working = await run(first);
    await rig.down();
    await rig.up();
    await until(async () => (await readWait(waiting)) === `${first}, whose work is not merged yet`);
    await rig.down();
    merge((await sessionBranch(working)) ?? '');
    await rig.up();
    assert.equal((await rig.settled(waiting)).failure, null);
  });

  /** Returns the branch of a session while no engine runs. */
  const sessionBranch = async (session: string): Promise<string | undefined> =>
    execFileSync('git', ['branch', '--format', '%(refname:short)'], { cwd: rig.ws.root, encoding: 'utf8' })
      .split('\n')
      .find((name) => name.endsWith(`/${session}`));
});

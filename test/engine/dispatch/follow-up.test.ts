import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { makeRig, type Rig } from './rig.ts';

const said = (session: string): string =>
  `say {"type":"result","subtype":"success","is_error":false,"session_id":"${session}"}`;

/** A prompt that the scripted agent obeys. */
const script = (...directives: string[]): string => directives.map((each) => `#agent: ${each}`).join('\n');

describe('a follow-up to an ended session', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  const work = async (...directives: string[]) => {
    const { session_id } = await rig.run(directives);
    return rig.settled(session_id);
  };
  const send = (session: string, ...directives: string[]) =>
    rig.here().call('worker.follow_up', { session, prompt: script(...directives) });

  test('the follow-up works in the same worktree, branch and conversation, as its own task', async () => {
    const first = await work('edit one.txt more', said('c-1'));
    assert.equal(first.failure, null);
    const { task, session } = await send(first.session_id, 'edit two.txt more', said('c-1'));
    assert.notEqual(task.task_id, first.task_id);
    assert.deepEqual([session.continues, session.task_id], [first.session_id, task.task_id]);
    const second = await rig.settled(session.session_id);
    assert.deepEqual(
      [second.failure, second.worktree, second.branch, second.commits, second.agent_session],
      [null, first.worktree, first.branch, 2, 'c-1'],
    );
    const start = rig.starts().at(-1) ?? [];
    assert.ok(start.includes('--resume=c-1') || start.join(' ').includes('--resume c-1'), start.join(' '));
    assert.match(start.at(-1) ?? '', /^#agent: edit two\.txt more[\s\S]*This follows up your work on t-\d+/);
    const brief = readFileSync(join(requireLocalPath(second.worktree), '.svc', 'TASK_BRIEF.md'), 'utf8');
    assert.ok(brief.startsWith(`# ${task.task_id}: #agent: edit two.txt more`), brief);
    assert.equal((await rig.task(first.task_id)).status, 'done');
    assert.equal((await rig.task(task.task_id)).status, 'done');
  });

  test('the follow-up takes over the work: the first session is neither reviewed nor promoted, the last takes both', async () => {
    const first = await work('edit three.txt more', said('c-3'));
    const { session } = await send(first.session_id, 'edit four.txt more', said('c-3'));
    await rig.settled(session.session_id);
    const { branch_state, worktree } = await rig.session(first.session_id);
    assert.deepEqual([branch_state, worktree], ['continued', null]);
    for (const call of [
      rig.here().call('worktree.promote', { session: first.session_id }),
      rig.here().call('worker.follow_up', { session: first.session_id, prompt: 'again' }),
    ])
      await assert.rejects(call, {
        code: 'conflict',
        message: new RegExp(`^${session.session_id} has continued`),
      });
    await rig.here().call('worktree.promote', { session: session.session_id });
    const files = execFileSync('git', ['ls-tree', '--name-only', 'main'], {
      cwd: rig.ws.root,
      encoding: 'utf8',
    });
    assert.match(files, /^four\.txt$[\s\S]*^three\.txt$/m);
  });

  test('the follow-up needs an ended session whose worktree still exists', async () => {
    const { session_id: running } = await rig.run(['hang']);
    const sending = (session: string) => rig.here().call('worker.follow_up', { session, prompt: 'more' });
    await assert.rejects(sending(running), { code: 'conflict', message: /has not ended/ });
    await rig.here().call('worker.kill', { session: running });
    await rig.settled(running);
    const merged = await work('edit five.txt more');
    await rig.here().call('worktree.promote', { session: merged.session_id });
    assert.ok(!existsSync(requireLocalPath(merged.worktree)));
    await assert.rejects(sending(merged.session_id), { code: 'conflict', message: /no longer exists/ });
    await assert.rejects(sending('s-999'), { code: 'not_found' });
    await assert.rejects(rig.here().call('worker.follow_up', { session: 's-1', prompt: '  ' }), {
      code: 'fields_invalid',
    });
  });

  test('the follow-up is created once by any number of simultaneous callers', async () => {
    const first = await work('edit six.txt more', said('c-6'));
    const calls = await Promise.allSettled(
      Array.from({ length: 5 }, () => send(first.session_id, 'edit seven.txt more')),
    );
    const started = calls.filter(({ status }) => status === 'fulfilled');
    assert.equal(started.length, 1);
    const { tasks } = await rig.here().call('task.list', { limit: 100 });
    assert.equal(tasks.filter(({ title }) => title === '#agent: edit seven.txt more').length, 1);
  });

  test('the follow-up serves a Chair that dispatches its worker again by name, and not for another agent or base', async () => {
    const dispatch = (input: object, directive: string) =>
      rig.here().call('dispatch.worker', {
        agent: 'claude',
        prompt: directive,
        name: 'fixer',
        ...input,
      });
    const first = await dispatch({ wait: true }, script('edit eight.txt more', said('c-8')));
    const second = await dispatch({ wait: true }, script('edit nine.txt more'));
    const [one, two] = await Promise.all([first, second].map(({ session_id }) => rig.session(session_id)));
    assert.deepEqual([two?.continues, two?.branch, two?.commits], [one?.session_id, one?.branch, 2]);
    const third = await dispatch({ wait: true, base: 'main' }, script('edit ten.txt more'));
    assert.equal((await rig.session(third.session_id)).continues, null);
  });
});

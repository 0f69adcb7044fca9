import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Caller } from '../../../engine/core/api/operation.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const CHAIR: Caller = {
  seat: 'chair',
  actor: 'ada',
  via: 'tool',
  sessionId: null,
  project: null,
  env: {},
};

describe('a call that is repeated after its answer was lost', { timeout: 60_000 }, () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    ws.repository.write('PLAN.md', '- [ ] one\n- [ ] two\n');
    here = await engineHere(ws);
    await here.join('alice', 'bob');
  });
  after(async () => {
    await here.close();
    await ws.close();
  });

  let count = 0;
  const keyed = async (name: string, input: object, key: string, caller: Partial<Caller> = {}) =>
    (await here.engine.operations.call(name, input, { ...CHAIR, ...caller }, { key })) as Record<
      string,
      unknown
    >;

  /** Runs an operation twice under one key: both answers are equal, and the second call has no effect. */
  async function twice(name: string, input: object, between: () => Promise<unknown> = async () => undefined) {
    count += 1;
    const key = `call-${count}`;
    const first = await keyed(name, input, key);
    await between();
    const seq = here.engine.events.lastSeq();
    assert.deepEqual(await keyed(name, input, key), first, name);
    assert.equal(here.engine.events.lastSeq(), seq, `${name}: the repeated call has no effect`);
    return first;
  }

  test('a release is confirmed again, even when another session holds the lock or claim now', async () => {
    await here.call('lock.acquire', { holder: 'alice', path: 'src' });
    await twice('lock.release', { holder: 'alice', path: 'src' }, () =>
      here.call('lock.acquire', { holder: 'bob', path: 'src' }),
    );
    const { locks } = await here.call('lock.status', {});
    assert.deepEqual(
      locks.map(({ holder }) => holder),
      ['bob'],
    );
    await here.call('task.claim', { holder: 'alice', ledger: 'PLAN.md', item: 1 });
    await twice('task.release', { holder: 'alice', ledger: 'PLAN.md', item: 1 });
    // A call with another key is a separate call.
    await assert.rejects(keyed('lock.release', { holder: 'alice', path: 'src' }, 'new'), {
      code: 'holder_mismatch',
    });
  });

  test('a repeated call does not end, assign, read or report anything that has changed since', async () => {
    const { task_id } = await twice('task.add', { title: 'one' });
    const id = String(task_id);
    await twice('task.assign', { id, agent: 'scripted' });
    await twice('task.done', { id, status: 'failed' }, () => here.call('task.retry', { id, hold: true }));
    const shown = await here.call('task.show', { id });
    assert.equal(shown.task.status, 'assigned', 'the retry remains in effect');
    const sent = await twice('msg.send', { to_session: 'chair', body: 'x' });
    const [message] = sent.messages as { id: number }[];
    await twice('msg.ack', { id: message?.id });
    await here.engine.attend({
      kind: 'plain',
      name: 'alice',
      project: null,
      agent: null,
      title: null,
      notifyBase: null,
      pid: null,
    });
    const tests = [{ command: 'true', passed: true }];
    await twice('verify.report', { session: 'alice', tests });
  });

  test('a repeated call finds the worker that it has started, and the merge that it has made', async () => {
    const run = await twice('dispatch.worker', {
      agent: 'scripted',
      prompt: '#agent: edit again.txt x',
      wait: true,
    });
    const promoted = await twice('worktree.promote', { session: run.session_id });
    assert.deepEqual([promoted.removed, promoted.already_merged], [true, false]);
    const failing = await here.call('dispatch.worker', {
      agent: 'scripted',
      prompt: '#agent: exit 3',
    });
    const { task_id: id } = failing;
    await until(async () => {
      const { task } = await here.call('task.show', { id });
      return task.status === 'failed';
    });
    const again = await keyed('task.run', { id, wait: true }, 'retried');
    assert.equal((await keyed('task.run', { id, wait: true }, 'retried')).session_id, again.session_id);
    const { sessions } = await here.call('task.show', { id });
    assert.equal(sessions.length, 2);
  });
});

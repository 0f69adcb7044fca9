import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { claudeSays, makeRig, type Rig } from '../../dispatch/rig.ts';

describe('an agent that fails repeatedly for its own reasons', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig({ workerCap: 1 });
  });
  after(() => rig.close());

  const broken = [
    'no-change',
    claudeSays.result({ is_error: true, api_error_status: 401, result: 'no login' }),
  ];
  const held = () => rig.here().call('agent.held');

  test('the agent gets no more work while its circuit is open, which is reported once; other agents continue, and a person can reset it', async () => {
    for (let failures = 1; failures <= 3; failures += 1) {
      assert.deepEqual(await held(), []);
      const { session_id } = await rig.run(broken);
      assert.equal((await rig.settled(session_id)).failure?.code, 'auth_failed');
    }
    assert.deepEqual(
      (await held()).map(({ agent, code }) => [agent, code]),
      [['claude', 'auth_failed']],
    );
    const waits = await rig.run(['no-change', claudeSays.result()]);
    const other = await rig.run(['no-change'], { agent: 'scripted' });
    assert.equal((await rig.settled(other.session_id)).failure, null);
    const waiting = await rig.session(waits.session_id);
    assert.deepEqual(
      [waiting.state, waiting.held?.code],
      ['queued', 'auth_failed'],
      'it reports what it waits for',
    );
    const plan = await rig.here().call('task.plan', {
      id: waits.task_id,
    });
    assert.deepEqual([plan.held_back?.code, plan.starts], ['auth_failed', 'queued']);

    // The state survives a restart.
    await rig.down();
    await rig.up();
    assert.equal((await rig.session(waits.session_id)).state, 'queued');

    await rig.here().call('agent.reset', { agent: 'claude' });
    assert.equal((await rig.settled(waits.session_id)).failure, null);
    await assert.rejects(rig.here().call('agent.reset', { agent: 'claude' }), { code: 'conflict' });
    const events = await rig.here().call('event.list', { limit: 500 });
    const alerts = events.filter(({ kind, data }) => kind === 'alert' && data.code === 'circuit_open');
    assert.equal(alerts.length, 1);
  });

  test('the circuit ignores failed tasks and stopped runs', async () => {
    for (let failures = 0; failures < 4; failures += 1) {
      const { session_id } = await rig.run(['no-change', 'fail 1']);
      await rig.settled(session_id);
    }
    assert.deepEqual(await held(), []);
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import { until } from '../../support/wait.ts';
import { claudeSays, makeRig, type Rig } from './rig.ts';

const HOUR = 3_600_000;

describe('the time limit of a run', () => {
  let rig: Rig;
  /** Milliseconds by which the wall clock was set (or the machine slept), and additional elapsed time. */
  let [set, passed] = [0, 0];
  before(async () => {
    rig = await makeRig({
      clock: {
        now: () => systemClock.now() + set + passed,
        monotonic: () => systemClock.monotonic() + passed,
      },
    });
  });
  after(() => rig.close());

  const running = async (directives: string[]): Promise<string> => {
    const { session_id } = await rig.run([...directives, 'hang'], { timeout_sec: 3600 });
    await until(async () => (await rig.session(session_id)).activity !== null);
    return session_id;
  };
  const calls = (error: object[] = []) =>
    [
      {
        type: 'assistant',
        message: {
          id: 'm',
          content: [{ type: 'tool_use', id: 'x', name: 'Bash', input: { command: 'ls' } }],
        },
      },
      ...error,
    ].map((each) => `say ${JSON.stringify(each)}`);

  test('the limit ignores the sleep of the machine and clock changes, also over a restart, but counts elapsed time', async () => {
    const id = await running([claudeSays.init('c-1'), ...calls()]);
    for (set of [5 * HOUR, -5 * HOUR]) {
      await rig.down();
      await rig.up();
      await until(async () => (await rig.session(id)).activity !== null);
      // The engine has checked since then.
      const { session_id: other } = await rig.run(['no-change']);
      await rig.settled(other);
      assert.equal((await rig.session(id)).state, 'running');
    }
    await rig.down();
    passed += HOUR;
    await rig.up();
    assert.equal((await rig.settled(id)).failure?.code, 'timeout');
  });

  test('the limit keeps the reason of an agent that was retrying, and counts towards its circuit', async () => {
    const retry = { type: 'system', subtype: 'api_retry', error: 'authentication_failed', error_status: 401 };
    for (let failures = 1; failures <= 3; failures += 1) {
      const id = await running([claudeSays.init('c-2'), ...calls([retry])]);
      passed += HOUR;
      const { failure } = await rig.settled(id);
      assert.equal(failure?.code, 'timeout');
      assert.match(
        failure?.text ?? '',
        /^stopped after 3600 s .*, while claude was retrying after auth_failed: .*401/,
      );
    }
    const held = await rig.here().call('agent.held');
    assert.deepEqual(
      held.map(({ agent, code }) => [agent, code]),
      [['claude', 'auth_failed']],
    );
  });
});

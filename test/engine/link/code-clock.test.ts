import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import { openBesideHostileServer } from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';

const DAY = 86_400_000;

test('a clock that was days ahead blocks approvals for at most a quarter of an hour', async (t) => {
  let ahead = 3 * DAY;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const { server, here } = await openBesideHostileServer(t, { clock });
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(async () => (await here.call('link.status', {})).state === 'connected');
  await here.call('config.set', { key: 'server.decide', value: '{ann: [page]}' });
  await here.call('config.set', { key: 'server.decide_code', value: 'true' });
  await here.call('link.code', {});
  const { decision_id } = await here.ask('say hello', { now: clock.now() });
  const { hash } = (await here.call('decision.show', { id: decision_id })).decision;
  const approve = async () => (await server.give({ decision_id, hash, code: 'none' })).outcome;
  for (let wrong = 1; wrong < 5; wrong += 1) assert.equal(await approve(), 'code_invalid');
  assert.equal(await approve(), 'code_closed');
  assert.equal(await approve(), 'code_closed');
  ahead = 0;
  assert.equal(await approve(), 'code_invalid');
});

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { createThreadClient, type ThreadClient } from '../../../../engine/core/base/thread-calls.ts';
import { until } from '../../../support/wait.ts';
import type { CountingCalls } from './counting-thread.ts';

describe('calls to a thread', () => {
  let client: ThreadClient<CountingCalls>;
  const open = (more: { idleMs?: number; settings?: () => unknown } = {}): ThreadClient<CountingCalls> => {
    client = createThreadClient<CountingCalls>({
      program: new URL('./counting-thread.js', import.meta.url),
      name: 'the counting',
      idleMs: 60_000,
      closingMs: 1000,
      limits: { maxOldGenerationSizeMb: 32 },
      ...more,
    });
    return client;
  };
  afterEach(() => client.close());

  test('calls are answered concurrently, with progress for listeners', async () => {
    const { call } = open();
    const told: number[] = [];
    const never = call('never', null);
    never.catch(() => undefined);
    assert.equal(await call('count', 3, (each) => void told.push(each)), 3);
    assert.deepEqual(told, [1, 2, 3]);
    assert.equal(await call('count', 2), 2);
  });

  test('a failed call gives its reason, and the thread continues', async () => {
    const { call } = open();
    await assert.rejects(call('fail', 'no numbers'), /the counting failed: no numbers/);
    assert.equal(await call('count', 1), 1);
  });

  test('calls fail with a thread that dies, and the next call starts another', async () => {
    const { call } = open();
    const never = assert.rejects(call('never', null), {
      code: 'internal',
      message: /the counting has ended/,
    });
    await assert.rejects(call('die', null), { code: 'internal' });
    await never;
    assert.equal(await call('count', 1), 1);
  });

  test('calls that take too long are given up, and only those', async () => {
    const { callInTime } = open();
    assert.equal(await callInTime('never', null, 1), null);
    assert.equal(await callInTime('count', 4, 60_000), 4);
  });

  test('calls restart with other settings, and are cancelled at the end', async () => {
    let size = 1;
    const { call, close } = open({ settings: () => ({ size }) });
    assert.deepEqual(await call('startedWith', null), { size: 1 });
    size = 2;
    assert.deepEqual(await call('startedWith', null), { size: 2 });
    const never = assert.rejects(call('never', null), { code: 'cancelled' });
    await close();
    await never;
  });

  test('calls get another thread when the first one was idle for long', async () => {
    const { call } = open({ idleMs: 1 });
    const first = await call('whoAmI', null);
    await until(async () => (await call('whoAmI', null)) !== first);
  });
});

import assert from 'node:assert/strict';
import { getActiveResourcesInfo } from 'node:process';
import { describe, it } from 'node:test';
import { settleWithin } from '../../../../engine/core/base/settle-within.ts';

const LONG_MS = 1_000_000;
const never = new Promise<never>(() => undefined);
const countTimers = () => getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('waiting for a promise for a limited time', () => {
  it('the value of a promise is returned, and no timer is left', async () => {
    const before = countTimers();
    assert.equal(await settleWithin(LONG_MS, Promise.resolve(7)), 7);
    assert.equal(countTimers(), before);
  });

  it('a rejection is passed on, and no timer is left', async () => {
    const before = countTimers();
    await assert.rejects(settleWithin(LONG_MS, Promise.reject(new Error('broken'))), /broken/);
    assert.equal(countTimers(), before);
  });

  it('null is returned when the time is over, and a later rejection is ignored', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    assert.equal(await settleWithin(1, promise), null);
    reject(new Error('too late'));
  });

  it('null is returned when the signal aborts, also before the call', async () => {
    const ending = new AbortController();
    const waiting = settleWithin(LONG_MS, never, ending.signal);
    ending.abort();
    assert.equal(await waiting, null);
    assert.equal(await settleWithin(LONG_MS, never, ending.signal), null);
  });
});

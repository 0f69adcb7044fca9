import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../../../engine/core/base/backoff.ts';

const BOUNDS = { firstMs: 100, longestMs: 1000 };

test('a pause doubles after each failure, up to the longest', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 6, 5000].map((failures) => backoffMs(failures, BOUNDS));
  assert.deepEqual(pauses, [100, 100, 200, 400, 800, 1000, 1000, 1000]);
  assert.equal(backoffMs(1, { firstMs: 100, longestMs: 50 }), 50);
});

test('jitter chooses any pause below that, and never one below the shortest', () => {
  const withRandom = (value: number, failures: number): number =>
    backoffMs(failures, { ...BOUNDS, random: () => value, shortestMs: 30 });
  assert.equal(withRandom(0, 3), 30);
  assert.equal(withRandom(0.5, 3), 200);
  assert.equal(withRandom(0.999, 3), 400);
  assert.equal(withRandom(0.999, 100), 999);
  assert.equal(backoffMs(3, { ...BOUNDS, random: () => 0 }), 0);
});

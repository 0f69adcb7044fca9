import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapLimit } from '../../../../engine/core/base/map-limit.ts';

test('the calls run N at a time at most, and the results keep their order', async () => {
  let running = 0;
  let most = 0;
  const results = await mapLimit([5, 1, 4, 2, 3], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < item; turn += 1) await Promise.resolve();
    running -= 1;
    return item * 10;
  });
  assert.deepEqual(results, [50, 10, 40, 20, 30]);
  assert.equal(most, 2);
  assert.deepEqual(await mapLimit([], 2, async () => 1), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkLimit } from '../../../../engine/core/base/work-limit.ts';

test('work above the limit waits for an earlier one, in order, also if that fails', async () => {
  const limit = createWorkLimit(2);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const all = [0, 1, 2, 3].map((number) =>
    limit(async () => {
      begun.push(number);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      ends[number] = (error) => (error === undefined ? resolve() : reject(error));
      await promise;
    }),
  );
  await Promise.resolve();
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(new Error('broken'));
  await assert.rejects(all[1]!, /broken/);
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.();
  await all[0];
  assert.deepEqual(begun, [0, 1, 2, 3]);
  for (const end of [ends[2], ends[3]]) end?.();
  await Promise.all([all[0], all[2], all[3]]);
});

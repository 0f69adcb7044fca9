import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createGroupReads } from '../../../../engine/linked-server/database/group-reads.ts';

describe('grouped reads', () => {
  test('concurrent keys are read together and once, and each gets its own row', async () => {
    const asked: string[][] = [];
    const read = createGroupReads(async (keys) => {
      asked.push([...keys]);
      return new Map(keys.filter((key) => key !== 'missing').map((key) => [key, key.toUpperCase()]));
    });
    assert.deepEqual(await Promise.all(['a', 'b', 'a', 'missing'].map(read)), ['A', 'B', 'A', undefined]);
    assert.deepEqual(asked, [['a', 'b', 'missing']]);
  });

  test('a key that arrives during a query is read after it, and a failure reaches only its own group', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let value = 'before';
    let begun = 0;
    const { promise: running, resolve: run } = Promise.withResolvers<void>();
    const read = createGroupReads(async (keys) => {
      begun += 1;
      const found = value;
      run();
      if (begun === 1) await held;
      if (keys.includes('broken')) throw new Error('no answer');
      return new Map(keys.map((key) => [key, found]));
    });
    const first = read('a');
    await running;
    value = 'after';
    const second = read('a');
    release();
    assert.deepEqual(await Promise.all([first, second]), ['before', 'after']);
    await assert.rejects(read('broken'), /no answer/);
    assert.equal(await read('a'), 'after');
  });
});

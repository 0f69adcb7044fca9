import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createGroupWrites } from '../../../../engine/linked-server/database/group-writes.ts';

it('simultaneous writes are committed together, in order', async () => {
  const groups: number[][] = [];
  const add = createGroupWrites<number, number>({
    async write(items) {
      groups.push([...items]);
      return items.map((item) => item * 10);
    },
    sync: async () => undefined,
  });
  assert.deepEqual(await Promise.all([1, 2, 3].map(add)), [10, 20, 30]);
  assert.deepEqual(groups, [[1, 2, 3]]);
  const many = Array.from({ length: 150 }, (_, index) => index);
  assert.deepEqual(
    await Promise.all(many.map(add)),
    many.map((item) => item * 10),
  );
  assert.deepEqual(
    groups.slice(1).map(({ length }) => length),
    [64, 64, 22],
  );
});

it('the next group is written while the one before is not on disk, and no caller is answered before it is', async () => {
  const written: string[] = [];
  const syncs: (() => void)[] = [];
  const wrote = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const add = createGroupWrites<'first' | 'second', string>({
    async write(items) {
      for (const item of items) {
        written.push(item);
        wrote[item].resolve();
      }
      return items;
    },
    sync: () => new Promise((resolve) => syncs.push(resolve)),
  });
  const answered: string[] = [];
  const first = add('first').then((item) => answered.push(item));
  await wrote.first.promise;
  const second = add('second').then((item) => answered.push(item));
  await wrote.second.promise;
  assert.deepEqual([written, answered], [['first', 'second'], []]);
  // Each waits for a sync that started after its own write.
  while (syncs.length < 2) await new Promise((resolve) => setImmediate(resolve));
  syncs[0]!();
  await first;
  assert.deepEqual(answered, ['first']);
  syncs[1]!();
  await second;
});

it('a write that fails is refused alone, and a failing disk refuses all', async () => {
  let isDiskFine = true;
  const add = createGroupWrites<number, number>({
    async write(items) {
      if (items.includes(2)) throw new Error('two is taken');
      return items;
    },
    sync: async () => {
      if (!isDiskFine) throw new Error('the disk failed');
    },
  });
  const settle = async () =>
    (await Promise.allSettled([1, 2, 3].map(add))).map((each) =>
      each.status === 'fulfilled' ? each.value : (each.reason as Error).message,
    );
  assert.deepEqual(await settle(), [1, 'two is taken', 3]);
  isDiskFine = false;
  assert.deepEqual(await settle(), ['the disk failed', 'two is taken', 'the disk failed']);
});

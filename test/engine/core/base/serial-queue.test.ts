import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createFreshCalls,
  createKeyedQueue,
  createSerialQueue,
} from '../../../../engine/core/base/serial-queue.ts';

/** Work that lasts until the test ends it. */
function setUp() {
  const seen: string[] = [];
  const piece = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    return {
      end: resolve,
      fail: () => reject(new Error(name)),
      work: async (): Promise<string> => {
        seen.push(`${name} begins`);
        await promise;
        seen.push(`${name} ends`);
        return name;
      },
    };
  };
  return { seen, piece };
}

describe('a serial queue', () => {
  test('the queue runs one piece after another, in order, and returns each result', async () => {
    const { seen, piece } = setUp();
    const enqueue = createSerialQueue();
    const [a, b] = [piece('a'), piece('b')];
    const both = Promise.all([enqueue(a.work), enqueue(b.work)]);
    b.end();
    a.end();
    assert.deepEqual(await both, ['a', 'b']);
    assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends']);
  });

  test('a failing piece is reported to its caller only', async () => {
    const { piece } = setUp();
    const enqueue = createSerialQueue();
    const [a, b] = [piece('a'), piece('b')];
    const [first, second] = [enqueue(a.work), enqueue(b.work)];
    a.fail();
    b.end();
    await assert.rejects(first, { message: 'a' });
    assert.equal(await second, 'b');
    await assert.rejects(
      enqueue(() => {
        throw new Error('at once');
      }),
      { message: 'at once' },
    );
    assert.equal(await enqueue(() => 'a value'), 'a value');
  });

  test('an empty piece waits for earlier pieces', async () => {
    const { seen, piece } = setUp();
    const enqueue = createSerialQueue();
    const a = piece('a');
    void enqueue(a.work);
    const over = enqueue(() => undefined);
    a.end();
    await over;
    assert.deepEqual(seen, ['a begins', 'a ends']);
  });
});

describe('a queue for each key', () => {
  test('the queue keeps pieces of one key in order, and lets other keys pass', async () => {
    const { seen, piece } = setUp();
    const enqueue = createKeyedQueue();
    const [a, b, other] = [piece('a'), piece('b'), piece('other')];
    const one = Promise.all([enqueue('one', a.work), enqueue('one', b.work)]);
    const two = enqueue('two', other.work);
    other.end();
    assert.equal(await two, 'other');
    assert.deepEqual(seen, ['a begins', 'other begins', 'other ends']);
    a.fail();
    b.end();
    await assert.rejects(one, { message: 'a' });
    assert.equal(await enqueue('one', () => 'after'), 'after');
    assert.deepEqual(seen.slice(3), ['b begins', 'b ends']);
  });

  test('the queue skips work that was cancelled before its turn, and rejects at once', async () => {
    const { seen, piece } = setUp();
    const enqueue = createKeyedQueue();
    const [a, b, c] = [piece('a'), piece('b'), piece('c')];
    const cancelling = new AbortController();
    const { signal } = cancelling;
    const first = enqueue('one', a.work, signal);
    const second = enqueue('one', b.work, signal);
    const third = enqueue('one', c.work);
    await Promise.resolve();
    cancelling.abort();
    await assert.rejects(second, { code: 'cancelled' });
    await assert.rejects(enqueue('one', b.work, signal), { code: 'cancelled' });
    assert.deepEqual(seen, ['a begins']);
    a.end();
    c.end();
    assert.deepEqual(await Promise.all([first, third]), ['a', 'c']);
    assert.deepEqual(seen, ['a begins', 'a ends', 'c begins', 'c ends']);
  });

  test('the queue accepts a key again after it was idle', async () => {
    const enqueue = createKeyedQueue();
    assert.equal(await enqueue('one', () => 1), 1);
    await assert.rejects(enqueue('one', () => Promise.reject(new Error('no'))));
    assert.equal(await enqueue('one', () => 2), 2);
  });
});

describe('fresh calls', () => {
  test('a caller gets work that begins after it has asked, and shares it with others who wait', async () => {
    const { seen, piece } = setUp();
    const share = createFreshCalls<string>();
    const [a, b, c] = [piece('a'), piece('b'), piece('c')];
    const first = share('one', a.work);
    await Promise.resolve();
    const later = [share('one', b.work), share('one', c.work)];
    a.fail();
    b.end();
    await assert.rejects(first, { message: 'a' });
    assert.deepEqual(await Promise.all(later), ['b', 'b']);
    assert.deepEqual(seen, ['a begins', 'b begins', 'b ends']);
  });
});

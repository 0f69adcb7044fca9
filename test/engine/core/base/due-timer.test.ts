import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createDueTimer } from '../../../../engine/core/base/due-timer.ts';
import { fakeClock } from '../../../support/clock.ts';

/** A clock that can be set independently of the timers. */
function setUp(t: TestContext, longestSleepMs?: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = fakeClock(1_000_000);
  const seen: number[] = [];
  const timer = createDueTimer({
    clock,
    onDue: () => seen.push(clock.now()),
    ...(longestSleepMs === undefined ? {} : { longestSleepMs }),
  });
  t.after(() => timer.close());
  return {
    clock,
    seen,
    timer,
    /** Advances the clock and the timers. */
    pass(ms: number) {
      clock.advance(ms);
      t.mock.timers.tick(ms);
    },
    /** Advances only the timers, as if the clock had been set back. */
    tick: (ms: number) => t.mock.timers.tick(ms),
  };
}

test('a due action is called once, at its time', (t) => {
  const { seen, timer, pass } = setUp(t);
  timer.sleepUntil(1_000_500);
  pass(499);
  assert.deepEqual([seen, timer.isDue()], [[], false]);
  pass(1);
  assert.deepEqual([seen, timer.isDue()], [[1_000_500], true]);
  pass(200_000);
  assert.equal(seen.length, 1);
});

test('an action that is already due is called soon, and not synchronously', (t) => {
  const { seen, timer, pass } = setUp(t);
  timer.sleepUntil(5);
  assert.deepEqual([seen, timer.isDue()], [[], true]);
  pass(1);
  assert.equal(seen.length, 1);
});

test('the newest time applies, and without pending work there is no timer', (t) => {
  const { seen, timer, pass } = setUp(t);
  timer.sleepUntil(1_000_100);
  timer.sleepUntil(1_000_300);
  pass(200);
  assert.deepEqual(seen, []);
  timer.sleepUntil(null);
  pass(1000);
  timer.sleepUntil(Number.POSITIVE_INFINITY);
  pass(1000);
  assert.deepEqual([seen, timer.isDue()], [[], false]);
});

test('a month is split into steps, since no timer is that long', (t) => {
  const { seen, timer, pass } = setUp(t, 86_400_000);
  timer.sleepUntil(1_000_000 + 30 * 86_400_000);
  for (let day = 0; day < 29; day += 1) pass(86_400_000);
  assert.deepEqual(seen, []);
  pass(86_400_000);
  assert.equal(seen.length, 1);
});

test('a clock that is set forward is noticed within a minute, and one that is set back delays the call', (t) => {
  const { clock, seen, timer, tick, pass } = setUp(t);
  timer.sleepUntil(1_000_000 + 3_600_000);
  clock.set(clock.now() + 3_600_000);
  assert.equal(timer.isDue(), true);
  tick(60_000);
  assert.equal(seen.length, 1);
  timer.sleepUntil(clock.now() + 50_000);
  clock.set(clock.now() - 100_000);
  tick(50_000);
  assert.equal(seen.length, 1);
  pass(150_000);
  assert.equal(seen.length, 2);
});

test('the timer pauses after a failure, even when something is due', (t) => {
  const { seen, timer, pass } = setUp(t);
  timer.sleepUntil(5, 1000);
  pass(999);
  assert.deepEqual(seen, []);
  pass(1);
  assert.equal(seen.length, 1);
});

test('a closed timer calls nothing', (t) => {
  const { seen, timer, pass } = setUp(t);
  timer.sleepUntil(1_000_100);
  timer.close();
  timer.sleepUntil(1_000_200);
  pass(1000);
  assert.deepEqual(seen, []);
});

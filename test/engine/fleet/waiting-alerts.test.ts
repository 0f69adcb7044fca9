import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WaitingSession, watchWaiting } from '../../../engine/fleet/waiting-alerts.ts';
import { fakeClock } from '../../support/clock.ts';

const MINUTE = 60_000;

test('a session that waits for a machine for ten minutes is reported once, and again after a second wait', (t) => {
  const clock = fakeClock();
  let waiting: WaitingSession[] = [{ sessionId: 's-1', pool: 'gpu', why: 'box is full' }];
  const late: string[] = [];
  const watch = watchWaiting({
    clock,
    listWaiting: () => waiting,
    onLate: ({ sessionId, why }) => late.push(`${sessionId}: ${why}`),
    onWanted: () => undefined,
  });
  t.after(watch.close);
  watch.look();
  clock.advance(9 * MINUTE);
  watch.look();
  assert.deepEqual(late, []);
  clock.advance(MINUTE);
  waiting = [
    { sessionId: 's-1', pool: 'gpu', why: 'box is silent' },
    ...['s-2'].map((sessionId) => ({ sessionId, pool: 'gpu', why: 'x' })),
  ];
  watch.look();
  watch.look();
  assert.deepEqual(late, ['s-1: box is silent']);
  waiting = [];
  watch.look();
  waiting = [{ sessionId: 's-1', pool: 'gpu', why: 'no' }];
  watch.look();
  clock.advance(9 * MINUTE);
  watch.look();
  assert.equal(late.length, 1);
  clock.advance(2 * MINUTE);
  watch.look();
  assert.deepEqual(late, ['s-1: box is silent', 's-1: no']);
});

test('sessions that have waited for half a minute are counted for their pool at each look', (t) => {
  const clock = fakeClock();
  const wait = (sessionId: string, pool: string): WaitingSession => ({ sessionId, pool, why: 'full' });
  let waiting = [wait('s-1', 'gpu'), wait('s-2', 'gpu')];
  const wanted: string[] = [];
  const watch = watchWaiting({
    clock,
    listWaiting: () => waiting,
    onLate: () => undefined,
    onWanted: (pool, count) => wanted.push(`${pool} ${count}`),
  });
  t.after(watch.close);
  watch.look();
  clock.advance(20_000);
  waiting = [...waiting, wait('s-3', 'arm')];
  watch.look();
  assert.deepEqual(wanted, []);
  clock.advance(10_000);
  watch.look();
  assert.deepEqual(wanted, ['gpu 2']);
  clock.advance(20_000);
  watch.look();
  assert.deepEqual(wanted, ['gpu 2', 'gpu 2', 'arm 1']);
});

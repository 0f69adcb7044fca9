import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WaitingSession, watchWaiting } from '../../../engine/fleet/waiting-alerts.ts';
import { fakeClock } from '../../support/clock.ts';

const MINUTE = 60_000;

test('a session that waits for a machine for ten minutes is reported once, and again after a second wait', (t) => {
  const clock = fakeClock();
  let waiting: WaitingSession[] = [{ sessionId: 's-1', why: 'box is full' }];
  const late: string[] = [];
  const watch = watchWaiting({
    clock,
    listWaiting: () => waiting,
    onLate: ({ sessionId, why }) => late.push(`${sessionId}: ${why}`),
  });
  t.after(watch.close);
  watch.look();
  clock.advance(9 * MINUTE);
  watch.look();
  assert.deepEqual(late, []);
  clock.advance(MINUTE);
  waiting = [
    { sessionId: 's-1', why: 'box is silent' },
    ...['s-2'].map((sessionId) => ({ sessionId, why: 'x' })),
  ];
  watch.look();
  watch.look();
  assert.deepEqual(late, ['s-1: box is silent']);
  waiting = [];
  watch.look();
  waiting = [{ sessionId: 's-1', why: 'no' }];
  watch.look();
  clock.advance(9 * MINUTE);
  watch.look();
  assert.equal(late.length, 1);
  clock.advance(2 * MINUTE);
  watch.look();
  assert.deepEqual(late, ['s-1: box is silent', 's-1: no']);
});

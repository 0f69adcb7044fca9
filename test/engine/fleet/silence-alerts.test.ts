import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineState } from '../../../engine/fleet/machine-connection.ts';
import { watchSilence } from '../../../engine/fleet/silence-alerts.ts';
import { fakeClock } from '../../support/clock.ts';

test('a machine that is silent for five minutes while sessions work there is reported once for each silence', (t) => {
  const clock = fakeClock();
  const told: string[] = [];
  let state: MachineState = { state: 'silent', why: 'no route', facts: null, load: null, since: clock.now() };
  let sessions: string[] = [];
  const watch = watchSilence({
    clock,
    readPatienceMs: () => 300_000,
    listMachines: () => [{ id: 'r-1', name: 'box', state, sessions }],
    onSilent: ({ name, why, sessions: working }) => told.push(`${name}: ${why}: ${working.join()}`),
  });
  t.after(watch.close);
  watch.look();
  clock.advance(400_000);
  watch.look();
  assert.deepEqual(told, []);
  sessions = ['s-1', 's-2'];
  watch.look();
  watch.look();
  assert.deepEqual(told, ['box: no route: s-1,s-2']);
  state = { ...state, state: 'ready', since: clock.now() };
  clock.advance(400_000);
  watch.look();
  state = { ...state, state: 'silent', since: clock.now() };
  watch.look();
  clock.advance(299_000);
  watch.look();
  assert.equal(told.length, 1);
  clock.advance(1000);
  watch.look();
  assert.equal(told.length, 2);
});

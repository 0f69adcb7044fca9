import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFailures } from '../../../../engine/core/http/signature-failures.ts';
import { fakeClock } from '../../../support/clock.ts';

test('the counter of failures holds a bounded number of addresses', () => {
  const failures = createFailures({ clock: fakeClock(), limit: 1, addresses: 3 });
  for (const remote of ['a', 'b', 'c']) assert.equal(failures.recordFailure(remote), null);
  assert.equal(failures.recordFailure('d'), null, 'replaces the first address');
  assert.equal(failures.recordFailure('a'), null, 'forgotten, so counted from the start');
  assert.notEqual(failures.recordFailure('d'), null);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPacedCall } from '../../../../engine/core/base/paced-call.ts';
import { until } from '../../../support/wait.ts';

describe('paced calls', () => {
  test('a burst of requests leads to one run, and requests during the pause to one more', async () => {
    let runs = 0;
    const paced = createPacedCall(() => {
      runs += 1;
    }, 50);
    for (let at = 0; at < 1000; at += 1) paced.request();
    assert.equal(runs, 0);
    await until(() => runs === 1, 'the first run');
    for (let at = 0; at < 1000; at += 1) paced.request();
    assert.equal(runs, 1);
    await until(() => runs === 2, 'the second run');
    paced.close();
  });

  test('a closed one runs nothing', async () => {
    let runs = 0;
    const paced = createPacedCall(() => {
      runs += 1;
    }, 0);
    paced.request();
    paced.close();
    paced.request();
    let isLater = false;
    const later = createPacedCall(() => {
      isLater = true;
    }, 0);
    later.request();
    await until(() => isLater, 'a later one');
    assert.equal(runs, 0);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { getDaemonCommand } from '../../../../cli/self.ts';
import { releaseIdleMemory } from '../../../../engine/core/platform/idle-memory.ts';
import { GATEWAY_NODE_OPTIONS } from '../../../../engine/gateway/spawn-gateway.ts';
import { settled } from '../../../support/wait.ts';

test('memory of a load is collected when the process is idle', async () => {
  const collections = new EventTarget();
  const idleMemory = releaseIdleMemory({
    collect: () => collections.dispatchEvent(new Event('collected')),
    intervalMs: 50,
  });
  const alive = setInterval(() => undefined, 1000);
  try {
    const collected = once(collections, 'collected');
    const taken = Array.from({ length: 1_000_000 }, (_, at) => ({ at }));
    await settled(collected, 'a collection');
    assert.equal(taken.length, 1_000_000);
  } finally {
    clearInterval(alive);
    idleMemory.close();
  }
});

test('the programs that host an engine and a gateway in the background can collect', () => {
  assert.ok(getDaemonCommand().includes('--expose-gc'));
  assert.ok(GATEWAY_NODE_OPTIONS.includes('--expose-gc'));
});

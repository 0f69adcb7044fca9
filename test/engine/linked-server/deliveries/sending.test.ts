import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startTestServer } from '../../../support/server/linked-server.ts';
import { deliveryRig } from './rig.ts';

it('a target gets at most ten deliveries a second, and a slow one delays no other', async () => {
  const rig = await deliveryRig(startTestServer);
  try {
    const release: (() => void)[] = [];
    const slow = await rig.addTarget('n8n', {}, (_count, response) => {
      release.push(() => response.end());
    });
    const quick = await rig.addTarget('zapier');
    const begin = performance.now();
    await rig.queue(Array.from({ length: 8 }, () => ({ event: 'sealed' as const })));
    await quick.atLeast(8);
    assert.ok(performance.now() - begin >= 700, 'eight take seven pauses');
    assert.equal(slow.caught.length, 1);
    for (const answer of release) answer();
  } finally {
    await rig.close();
  }
});

it("the server's database holds no plain address or secret of a target", async () => {
  const rig = await deliveryRig(startTestServer);
  try {
    const hook = await rig.addTarget();
    await rig.server.close();
    const file = readFileSync(join(rig.server.folder, 'server.db')).toString('latin1');
    assert.ok(!file.includes(hook.secret.slice(6)));
    assert.ok(!file.includes(new URL(hook.url).pathname));
  } finally {
    await rig.close();
  }
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

it('nothing starts without a required lease, and every decision stays unchanged', async () => {
  const ws = await makeWorkspace({});
  try {
    ws.env.SVC_REQUIRE_LEASE = '1';
    const here = await engineHere(ws, { workerCap: 0 });
    try {
      await here.call('task.add', { title: 'one', agent: 'scripted' });
      const race = { id: 't-1', agents: ['scripted', 'scripted'] };
      const { decision } = (await here.call('task.race', { ...race, hold: true })) as {
        decision: { decision_id: string };
      };
      const before = await here.call('decision.list', {});
      for (const [operation, input] of [
        ['decision.approve', { id: decision.decision_id }],
        ['task.run', { id: 't-1' }],
        ['task.race', race],
      ] as const)
        await assert.rejects(here.call(operation as 'task.run', input as { id: string }), {
          code: 'lease_required',
        });
      assert.deepEqual(await here.call('decision.list', {}), before);
      assert.deepEqual(await here.call('session.list', {}), []);
      const status = await here.call('entitlements.status', {});
      assert.partialDeepStrictEqual(status, { linked: false, lease: { state: 'none', required: true } });
    } finally {
      await here.close();
    }
    ws.env.SVC_LEASE_SECRET = 'x'.repeat(32);
    const again = await engineHere(ws, { workerCap: 0 });
    try {
      await again.call('task.run', { id: 't-1' });
      const sessions = (await again.call('session.list', {})) as unknown[];
      assert.equal(sessions.length, 2);
    } finally {
      await again.close();
    }
  } finally {
    await ws.close();
  }
});

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { systemClock } from '../../../../engine/core/base/clock.ts';
import { ADDONS } from '../../../../engine/core/link-protocol/capabilities.ts';
import { DECISION_CODES } from '../../../../engine/linked-server/deliveries/decision-code.ts';
import { startTestServer } from '../../../support/server/linked-server.ts';
import { linkByHand } from '../../../support/workspaces/workspace-by-hand.ts';
import { deliveryRig } from './rig.ts';

const require = createRequire(import.meta.url);
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

interface Sent {
  url: string;
  body: string;
  timestamp: string;
  signature: string;
}

/** Does what an HTTP node does with the code's result. */
async function send({ url, body, timestamp, signature }: Sent): Promise<unknown> {
  const headers = { 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return { status: answer.status, ...((await answer.json()) as object) };
}

type Input = Record<string, unknown>;
const run = (code: string, named: Record<string, unknown>): Promise<unknown> =>
  (AsyncFunction(...Object.keys(named), code) as (...given: unknown[]) => Promise<unknown>)(
    ...Object.values(named),
  );

/** Each tool runs the code that is pasted into it, with its available globals; returns the result. */
const TOOLS: Record<(typeof ADDONS)[number], (code: string, event: Input) => Promise<unknown>> = {
  async n8n(code, event) {
    const $input = { all: () => [{ json: event }] };
    const [item] = (await run(code, { require, $input })) as { json: Sent }[];
    return send(item!.json);
  },
  zapier: (code, event) => run(code, { require, fetch, inputData: event }),
  make: async (code, event) => send((await run(code, { require, input: event })) as Sent),
};

it('the code for each tool makes the decision of an event that it received', async () => {
  const rig = await deliveryRig(startTestServer, { clock: systemClock });
  try {
    const shop = await linkByHand(rig.server, rig.ann);
    for (const [index, tool] of ADDONS.entries()) {
      const decision_id = `d-${index + 1}`;
      const hook = await rig.addTarget(tool, { 'events[]': 'needs_approval' });
      const page = await rig.ann.get(`/app/settings/targets/${hook.id}`);
      assert.ok(page.text.includes(`server.decide &#39;{${tool}: [automation]}&#39;`), tool);
      await shop.tellPending([{ decision_id }]);
      await shop.tellEvents([{ id: `e-${tool}`, decision_id }]);
      const [told] = await hook.atLeast(1);
      const code = DECISION_CODES[tool].code.replace('whsec_…', hook.secret);
      const [answer, command] = await Promise.all([
        TOOLS[tool](code, { ...told?.json, verb: 'deny' }),
        shop.obey({ outcome: 'denied', state: 'denied' }),
      ]);
      assert.deepEqual([command.person, command.decision_id], [tool, decision_id]);
      assert.equal((answer as { status: number }).status, 200, JSON.stringify(answer));
    }
  } finally {
    await rig.close();
  }
});

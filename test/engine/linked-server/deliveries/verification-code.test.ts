import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { buildSample } from '../../../../engine/linked-server/deliveries/samples.ts';
import { VERIFICATION_CODES } from '../../../../engine/linked-server/deliveries/verification-code.ts';
import { EVENT_NAMES } from '../../../../engine/notify/events.ts';
import { signedHeaders } from '../../../../engine/notify/sending/signing.ts';

const require = createRequire(import.meta.url);
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

type Headers = Record<string, string>;
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

/** Each tool runs the code that is pasted into it, with its available globals; returns the result. */
const TOOLS: Record<string, (code: string, headers: Headers, body: string) => Promise<unknown>> = {
  async n8n(code, headers, body) {
    const run = AsyncFunction('require', '$input', code) as (...given: unknown[]) => Promise<unknown>;
    const helpers = { getBinaryDataBuffer: async () => Buffer.from(body) };
    const items = await run.call({ helpers }, require, { first: () => ({ json: { headers, body: {} } }) });
    return (items as { json: unknown }[])[0]!.json;
  },
  zapier: (code, headers, body) => runWithInput('inputData', code, headers, body),
  make: (code, headers, body) => runWithInput('input', code, headers, body),
  async webhook(code, headers, body) {
    const make = Function('require', `${code}\nreturn readEvent;`) as (
      given: unknown,
    ) => (...given: unknown[]) => unknown;
    return make(require)(headers, body, SECRET);
  },
};

async function runWithInput(name: string, code: string, headers: Headers, body: string): Promise<unknown> {
  const run = AsyncFunction('require', name, code) as (...given: unknown[]) => Promise<unknown>;
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (part) => headers[`webhook-${part}`],
  );
  return run(require, { body, id, timestamp, signatures });
}

for (const [tool, run] of Object.entries(TOOLS)) {
  it(`the code for ${tool} accepts signed requests only, also during a change of the secret`, async () => {
    const code = VERIFICATION_CODES[tool as 'n8n'].code.replace('whsec_…', SECRET);
    const sample = buildSample('needs_approval', { at: Date.now() });
    const body = JSON.stringify(sample);
    const facts = { messageId: sample.id, body, now: Date.now() };
    assert.deepEqual(await run(code, signedHeaders({ ...facts, secrets: [SECRET] }), body), sample);
    assert.deepEqual(await run(code, signedHeaders({ ...facts, secrets: [OTHER, SECRET] }), body), sample);
    const right = signedHeaders({ ...facts, secrets: [SECRET] });
    for (const [headers, text] of [
      [signedHeaders({ ...facts, secrets: [OTHER] }), body],
      [signedHeaders({ ...facts, now: Date.now() - 301_000, secrets: [SECRET] }), body],
      [{ ...right, 'webhook-signature': '' }, body],
      [{ ...right, 'webhook-timestamp': 'soon' }, body],
      [{ ...right, 'webhook-id': 'another' }, body],
      [right, body.replace('d-17', 'd-18')],
    ] as const)
      await assert.rejects(async () => run(code, headers, text), /did not come from svc/);
  });
}

it('every event has a sample, with the fields of the envelope', () => {
  const fields = [
    'id',
    'event',
    'at',
    'workspace',
    'project',
    'task_id',
    'decision_id',
    'session_id',
    'agent',
  ];
  for (const event of EVENT_NAMES) {
    const sample = buildSample(event, { at: 0 });
    assert.deepEqual(Object.keys(sample), [
      ...fields,
      'status',
      'title',
      'reason',
      'workspace_id',
      'decision_url',
    ]);
    assert.equal(sample.event, event);
  }
});

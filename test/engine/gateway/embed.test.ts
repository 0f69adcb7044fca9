import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

test('memories are compared by the model of ai.embeddings, whose provider is called through the gateway', async () => {
  const asked: { model: string; input: string[]; key: string | undefined }[] = [];
  const provider = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.end('{"object":"list","data":[{"id":"tiny"}]}');
    const { model, input } = (await json(request)) as { model: string; input: string[] };
    asked.push({ model, input, key: request.headers.authorization });
    const data = input.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: [/lorry|truck/i.test(text) ? 1 : 0, 0.1, 0.2],
    }));
    const usage = { prompt_tokens: 3, total_tokens: 3 };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ object: 'list', model, data, usage }));
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const { port } = provider.address() as AddressInfo;
  const ws = await makeWorkspace({
    yaml: `gateway: { addr: "127.0.0.1:0" }
ai:
  mode: live
  embeddings: up/tiny
  providers:
    - { name: up, base_url: "http://127.0.0.1:${port}/v1", api_key: sk-of-the-provider, tier: local }
`,
  });
  const here = await engineHere(ws);
  try {
    for (const title of ['Zqx wage table', 'Zqy lorry rules'])
      await here.call('memory.remember', { title, text: 'Zq.' });
    const { memories } = await here.call('memory.recall', { query: 'qqtruck truck' });
    assert.equal(memories[0]?.title, 'Zqy lorry rules');
    assert.deepEqual(
      asked.map(({ model, input, key }) => [model, input.length, key]),
      [['tiny', 3, 'Bearer sk-of-the-provider']],
    );
  } finally {
    await here.call('gateway.stop');
    await here.close();
    await ws.close();
    provider.close();
  }
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import { until } from '../../../support/wait.ts';

const chat = '/v1/chat/completions';
const TURN = [{ role: 'user', content: 'Hello' }];

describe('a provider without a configured model', () => {
  let server: Server;
  let url = '';
  /** The models in its list; null for a server without one. */
  let listed: string[] | null = null;
  const asked: unknown[] = [];
  before(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET')
        return response
          .writeHead(listed === null ? 404 : 200)
          .end(JSON.stringify({ data: (listed ?? []).map((id) => ({ id })) }));
      const { model } = JSON.parse(Buffer.concat(chunks).toString()) as { model?: string };
      asked.push(model);
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model, choices }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function withList(
    models: string[] | null,
    work: (rig: GatewayRig) => Promise<void>,
    more: Parameters<typeof makeProvider>[1] = {},
  ): Promise<void> {
    listed = models;
    const rig = await makeGateway({ settings: { providers: [makeProvider(url, more)] } });
    asked.length = 0;
    try {
      await work(rig);
    } finally {
      await rig.close();
    }
  }
  const ask = async (rig: GatewayRig, model: string) => {
    const answer = await rig.post(chat, { model, messages: TURN });
    const { error } = (await answer.json()) as { error?: { message: string; code: string } };
    return { status: answer.status, headers: answer.headers, ...error };
  };

  test("the provider is not called with one of svc's own model names, and the caller learns which to use", async () => {
    await withList(['small', 'large'], async (rig) => {
      for (const name of ['svc', 'svc/auto', 'svc/paid', 'svc/up', 'svc/up/', 'svc/']) {
        const { status, code, message, headers } = await ask(rig, name);
        assert.deepEqual([status, code], [404, 'model_not_found'], name);
        assert.match(
          message ?? '',
          /none is set for up \(up lists 2, such as small\); request svc\/up\/MODEL, or set a model in svc\.yaml/,
        );
        assert.equal(headers.get('x-should-retry'), 'false');
      }
      assert.match(
        (await ask(rig, 'svc/cheap')).message ?? '',
        /none has one of the tiers local, free, cheap/,
      );
      assert.deepEqual(asked, []);
      for (const name of ['svc/up/large', 'up/large', 'large'])
        assert.equal((await ask(rig, name)).status, 200);
      assert.equal(
        (await rig.post(chat, { messages: TURN })).status,
        200,
        "without a name, the program's choice applies",
      );
      assert.deepEqual(asked, ['large', 'large', 'large', undefined]);
    });
  });

  test("the provider is not called with svc's own name where it has no list either", async () => {
    await withList(null, async (rig) => {
      assert.match((await ask(rig, 'svc')).message ?? '', /up has sent no list/);
      assert.deepEqual(asked, []);
    });
  });

  test("svc's own names lead to the only model of the provider's list", async () => {
    await withList(['only'], async (rig) => {
      // Immediately, possibly before the first list has arrived.
      for (const name of ['svc/auto', 'svc', 'svc/paid', 'svc/up'])
        assert.equal((await ask(rig, name)).status, 200, name);
      assert.deepEqual(asked, ['only', 'only', 'only', 'only']);
    });
  });

  test('the provider is skipped where another one of any tier has a model', async () => {
    listed = ['small', 'large'];
    const providers = [
      makeProvider(url, { name: 'any', tier: 'local' }),
      makeProvider(url, { name: 'one', model: 'set', tier: 'paid' }),
    ];
    const rig = await makeGateway({ settings: { providers } });
    asked.length = 0;
    try {
      assert.equal((await ask(rig, 'svc/auto')).headers.get('x-svc-provider'), 'one');
      assert.equal((await ask(rig, 'svc/local')).status, 404);
      assert.equal((await rig.post(chat, {})).headers.get('x-svc-provider'), 'any', 'no model was named');
      await rig.configure({ providers: providers.slice(1) });
      assert.equal((await rig.post(chat, { messages: TURN })).status, 200);
      assert.equal((await rig.post(chat, {})).status, 200);
      assert.deepEqual(asked, ['set', undefined, 'set', 'set']);
    } finally {
      await rig.close();
    }
  });

  test("svc's own names are listed only where they lead to a model", async () => {
    const list = async (rig: GatewayRig): Promise<string[]> => {
      const answer = await fetch(`${rig.url}/v1/models`, {
        headers: { authorization: `Bearer ${rig.runKey}` },
      });
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    await withList(['small', 'large'], async (rig) => {
      await until(async () => (await list(rig)).includes('large'), 'the first look');
      assert.deepEqual(await list(rig), ['small', 'large']);
    });
    await withList(['only'], async (rig) => {
      await until(async () => (await list(rig)).includes('only'), 'the first look');
      assert.deepEqual(await list(rig), ['svc', 'svc/auto', 'svc/paid', 'only', 'svc/up']);
    });
  });

  test('a provider at another address has another list', async () => {
    await withList(['only'], async (rig) => {
      assert.equal((await ask(rig, 'svc')).status, 200);
      listed = null;
      await rig.configure({ providers: [makeProvider(url.replace('/v1', '/none/v1'))] });
      assert.equal((await ask(rig, 'svc')).status, 404);
    });
  });
});

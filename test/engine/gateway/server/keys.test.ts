import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { MODEL, startUpstream, type Upstream } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider, REAL_KEY } from '../../../support/gateway/gateway.ts';

const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] };

describe('access to the gateway', () => {
  let upstream: Upstream;
  let rig: GatewayRig;
  before(async () => {
    upstream = await startUpstream();
    rig = await makeGateway({ settings: { providers: [makeProvider(`${upstream.url}/v1`)] } });
  });
  after(async () => {
    await rig.close();
    await upstream.close();
  });
  const chat = '/v1/chat/completions';

  test('a key is accepted wherever clients put it, and is not forwarded', async () => {
    const key = rig.runKey;
    const ways: [string, Record<string, string>][] = [
      [chat, { authorization: `Bearer ${key}` }],
      [chat, { 'x-api-key': key }],
      [chat, { 'x-goog-api-key': key }],
      [`${chat}?key=${key}`, {}],
      [`/s/${key}${chat}`, {}],
    ];
    for (const [path, headers] of ways) {
      const answer = await rig.post(path, CHAT, { key: null, headers });
      assert.equal(answer.status, 200, path);
      await answer.text();
      const asked = upstream.asked.at(-1)!;
      assert.doesNotMatch(JSON.stringify(asked), /svc-vkey/);
      assert.equal(asked.headers.authorization, `Bearer ${REAL_KEY}`);
    }
  });

  test('a missing, wrong or revoked key is refused, and must not be retried', async () => {
    const revoked = await rig.issueKey({ sessionId: 's-9' });
    assert.equal((await rig.post(chat, CHAT, { key: revoked })).status, 200);
    await rig.revokeKey('s-9');
    for (const key of [null, 'svc-vkey-none', 'sk-something', `${rig.runKey}x`, revoked]) {
      const answer = await rig.post(chat, CHAT, { key });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('x-should-retry'), 'false');
      assert.equal(typeof ((await answer.json()) as { error: { message: string } }).error.message, 'string');
    }
  });

  test("a worker's key allows model calls and nothing else", async () => {
    for (const path of ['/metrics', '/-/status', '/-/settings', '/-/stop', '/-/models']) {
      const answer = await fetch(`${rig.url}${path}`, { headers: { authorization: `Bearer ${rig.runKey}` } });
      assert.equal(answer.status, 403, path);
      await answer.text();
      assert.equal((await rig.post(path, {})).status, 403, path);
    }
    assert.equal((await rig.post('/v1/files', {})).status, 404);
  });

  test('browser pages and names of other machines are refused', async () => {
    const foreign = await rig.post(chat, CHAT, { headers: { origin: 'https://example.com' } });
    assert.equal(foreign.status, 403);
    assert.equal(
      [...foreign.headers.keys()].some((name) => name.startsWith('access-control')),
      false,
    );
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'rebound.example', authorization: `Bearer ${rig.runKey}` };
      request(`${rig.url}${chat}`, { method: 'POST', headers }, (answer) =>
        resolve(answer.resume().statusCode),
      )
        .on('error', reject)
        .end(JSON.stringify(CHAT));
    });
    assert.equal(status, 403);
  });

  test('a refusal has the form of its path, wherever the key is', async () => {
    const google = { 'x-goog-api-key': 'wrong' };
    const refused = async (path: string, headers: Record<string, string>) =>
      (await rig.post(path, {}, { key: null, headers })).json() as Promise<Record<string, unknown>>;
    assert.equal((await refused('/v1/messages', google)).type, 'error');
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/embeddings'])
      assert.equal(((await refused(path, google)).error as { code: unknown }).code, 'key_invalid', path);
    for (const path of ['/v1beta/models/m:generateContent', '/v1/models/m:generateContent'])
      assert.equal(((await refused(path, { 'x-api-key': 'w' })).error as { code: unknown }).code, 401, path);
  });

  test('a client that expects 100-continue gets it once its key and size are accepted', async () => {
    const ask = (key: string, length: number) =>
      new Promise<[boolean, number | undefined]>((resolve, reject) => {
        let isAsked = false;
        const headers = { expect: '100-continue', authorization: `Bearer ${key}`, 'content-length': length };
        const asking = request(`${rig.url}${chat}`, { method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve([isAsked, answer.statusCode]);
          if (!isAsked) asking.destroy();
        });
        asking.on('error', reject);
        asking.on('continue', () => {
          isAsked = true;
          asking.end(JSON.stringify(CHAT));
        });
        asking.flushHeaders();
      });
    const { length } = JSON.stringify(CHAT);
    assert.deepEqual(await ask(rig.runKey, length), [true, 200]);
    assert.deepEqual(await ask('wrong', length), [false, 401]);
    assert.deepEqual(await ask(rig.runKey, 100 * 1024 ** 2), [false, 413]);
  });

  test('HEAD / answers without a key, and reveals nothing of the workspace', async () => {
    const answer = await fetch(rig.url, { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.doesNotMatch(JSON.stringify([...answer.headers]), new RegExp(rig.data));
  });

  test('a body that is not an object, or too large, is refused', async () => {
    for (const body of ['', '[]', '{"model":', 'null', '{"a":1']) {
      const answer = await rig.post(chat, body);
      assert.equal(answer.status, 400, body);
      await answer.text();
    }
    const small = await makeGateway({ settings: { mode: 'stub' }, limits: { mostRequestBytes: 1000 } });
    try {
      const answer = await small.post(chat, { ...CHAT, pad: 'x'.repeat(2000) });
      assert.equal(answer.status, 413);
    } finally {
      await small.close();
    }
  });

  test('unchanged parts arrive byte for byte, with unknown fields and beta headers', async () => {
    const odd = `{ "model" : "${MODEL}",\n "x_unknown":{"a":[1, 2.50, 1e3]}, "messages": [{"role":"user","content":"\\u00fc \\" 🌍"}]}`;
    const answer = await rig.post(`${chat}?beta=true&key=${rig.runKey}`, odd, {
      key: null,
      headers: { 'openai-beta': 'x=1' },
    });
    assert.equal(answer.status, 200);
    const asked = upstream.asked.at(-1)!;
    assert.equal(asked.body, odd);
    assert.equal(asked.headers['openai-beta'], 'x=1');
    assert.equal(asked.path, `/v1/chat/completions?beta=true`);
    assert.deepEqual(((await answer.json()) as { x_unknown: unknown }).x_unknown, { kept: true });
  });

  test('a model may have any name', async () => {
    for (const name of ['größe 模型', 'a\r\nx-injected: 1', '\ud800', '"', ''])
      for (const stream of [false, true]) {
        const answer = await rig.post(chat, { ...CHAT, model: name, stream });
        assert.equal(answer.status, 200, await answer.text());
        assert.equal(answer.headers.get('x-injected'), null);
      }
    assert.equal(
      (await rig.post(chat, { ...CHAT, model: '模型' })).headers.get('x-svc-model'),
      '%E6%A8%A1%E5%9E%8B',
    );
  });

  test('only the name of the model is changed, in every place where it occurs', async () => {
    await rig.configure({ providers: [makeProvider(`${upstream.url}/v1`, { model: 'other "one"' })] });
    const body =
      '{"messages":[{"content":"\\"model\\":\\"x\\"","model":"in"}],"model":"svc/auto","n":1,"mod\\u0065l":"svc"}';
    assert.equal((await rig.post(chat, body)).status, 200);
    const name = JSON.stringify('other "one"');
    assert.equal(
      upstream.asked.at(-1)?.body,
      `{"messages":[{"content":"\\"model\\":\\"x\\"","model":"in"}],"model":${name},"n":1,"mod\\u0065l":${name}}`,
    );
  });
});

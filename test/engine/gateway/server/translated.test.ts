import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { sealReasoning } from '../../../../engine/gateway/translate/reasoning.ts';
import { MODEL, startUpstream, type Upstream, WORDS } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';

// Every protocol as a caller, with a provider of each other protocol.

const turn = [{ role: 'user' as const, content: 'Hello' }];
const SPOKEN = ['chat', 'responses', 'messages', 'gemini'] as const;

const CALLERS: Readonly<
  Record<(typeof SPOKEN)[number], (rig: GatewayRig, model: string) => Promise<string>>
> = {
  async chat({ url, personKey }, model) {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: personKey, maxRetries: 0 });
    let text = '';
    for await (const chunk of await openai.chat.completions.create({ model, messages: turn, stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  async responses({ url, personKey }, model) {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: personKey, maxRetries: 0 });
    const answer = await openai.responses.stream({ model, input: 'Hello' }).finalResponse();
    assert.equal(answer.status, 'completed');
    return answer.output_text;
  },
  async messages({ url, personKey }, model) {
    const anthropic = new Anthropic({ baseURL: url, apiKey: personKey, maxRetries: 0 });
    const answer = await anthropic.messages.stream({ model, max_tokens: 100, messages: turn }).finalMessage();
    return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  async gemini({ url, personKey }, model) {
    const google = new GoogleGenAI({ apiKey: personKey, httpOptions: { baseUrl: url } });
    let text = '';
    for await (const chunk of await google.models.generateContentStream({ model, contents: 'Hello' }))
      text += chunk.text ?? '';
    return text;
  },
};

describe('a caller of one protocol and a provider of another', () => {
  let upstream: Upstream;
  let rig: GatewayRig;
  let booked = 0;
  before(async () => {
    upstream = await startUpstream();
    const providers = SPOKEN.map((protocol) =>
      makeProvider(upstream.url, { name: protocol, protocols: [protocol] }),
    );
    rig = await makeGateway({ settings: { providers }, limits: { attempts: 1 } });
  });
  after(async () => {
    await rig.close();
    await upstream.close();
  });

  for (const caller of SPOKEN)
    for (const provider of SPOKEN.filter((each) => each !== caller)) {
      test(`${caller} through ${provider}: the words arrive, and the usage is the upstream's`, async () => {
        upstream.plan('none');
        assert.equal(await CALLERS[caller](rig, `svc/${provider}/${MODEL}`), WORDS);
        booked += 1;
        const row = (await rig.calls(booked)).at(-1)!;
        assert.deepEqual(
          [row.input, row.cache_read, row.output, row.is_estimated, row.outcome],
          [9, 3, 5, 0, 'ok'],
        );
        assert.doesNotMatch(JSON.stringify(upstream.asked.at(-1)?.headers), /svc-vkey/);
      });

      for (const fault of [
        'ends_early',
        'reset_within',
        'status_400',
        'html_502',
        'error_200',
        'error_within',
      ] as const)
        test(`${caller} through ${provider}: ${fault} is an error in the caller's form`, async () => {
          upstream.plan(fault);
          await assert.rejects(CALLERS[caller](rig, `svc/${provider}/${MODEL}`));
          booked += 1;
          assert.notEqual((await rig.calls(booked)).at(-1)?.outcome, 'ok');
        });
    }

  test('a request that starts with a byte order mark is read', async () => {
    upstream.plan('none');
    const body = {
      model: `svc/chat/${MODEL}`,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hello' }],
    };
    const answer = await rig.post('/v1/messages', `\uFEFF${JSON.stringify(body)}`);
    assert.equal(answer.status, 200, await answer.text());
    booked += 1;
    assert.equal(JSON.parse(upstream.asked.at(-1)?.body ?? '').messages[0].content, 'Hello');
  });

  test("an untranslatable body is the caller's mistake, and is not retried", async () => {
    const model = JSON.stringify(`svc/chat/${MODEL}`);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const [more, expected] of [
      ['"messages":[] } secret', /not a JSON object/],
      [`"messages":[],"tools":[{"name":"a","input_schema":{"x":${deep}}}]}`, /nested too deeply/],
    ] as const) {
      const answer = await rig.post('/v1/messages', `{"model":${model},"max_tokens":1,${more}`);
      const text = await answer.text();
      assert.equal(answer.status, 400, text);
      assert.match(text, expected);
      assert.doesNotMatch(text, /secret/);
      booked += 1;
    }
  });

  test('a translated call to messages names the version of that protocol', async () => {
    upstream.plan('none');
    await CALLERS.chat(rig, `svc/messages/${MODEL}`);
    booked += 1;
    assert.equal(upstream.asked.at(-1)?.headers['anthropic-version'], '2023-06-01');
  });

  test('a provider does not get the reasoning of another one, and every other byte is unchanged', async () => {
    upstream.plan('none');
    const seal = sealReasoning('gemini', 'gemini-3-pro', { thoughtSignature: 'xyz' });
    const rest = '"max_tokens" : 10,\n "unknown":1.50, "model": "m"';
    const say = '{"role":"user","content":"Hello"}';
    const bodyWith = (...thoughts: string[]): string =>
      `{${rest}, "messages":[${say},{"role":"assistant","content":[${[...thoughts, '{"type":"text","text":"Hi"}']}]},${say}]}`;
    const send = async (text: string): Promise<string> => {
      const answer = await rig.post('/v1/messages', text.replace('"m"', `"svc/messages/${MODEL}"`));
      assert.equal(answer.status, 200, await answer.text());
      booked += 1;
      return upstream.asked.at(-1)?.body ?? '';
    };
    const plain = bodyWith().replace('"m"', JSON.stringify(MODEL));
    assert.equal(await send(bodyWith(`{"type":"thinking","thinking":"so","signature":"${seal}"}`)), plain);
    assert.equal(await send(bodyWith()), plain);
    const own = bodyWith('{"type":"thinking","thinking":"so","signature":"its own"}');
    assert.equal(await send(own), own.replace('"m"', JSON.stringify(MODEL)));
  });
});

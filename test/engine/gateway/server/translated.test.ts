import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { MODEL, startUpstream, type Upstream, WORDS } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway.ts';

// Of every protocol as a caller, and a provider of each other one.

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
      test(`${caller} through ${provider}: the words arrive, and the usage is the upstream’s`, async () => {
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

      for (const fault of ['ends_early', 'reset_within', 'status_400', 'html_502', 'error_within'] as const)
        test(`${caller} through ${provider}: ${fault} is an error of the caller’s own`, async () => {
          upstream.plan(fault);
          await assert.rejects(CALLERS[caller](rig, `svc/${provider}/${MODEL}`));
          booked += 1;
          assert.notEqual((await rig.calls(booked)).at(-1)?.outcome, 'ok');
        });
    }
});

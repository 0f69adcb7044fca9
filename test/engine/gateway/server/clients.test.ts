import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import {
  MODEL,
  REQUEST_ID,
  startUpstream,
  type Upstream,
  WORDS,
} from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import { until } from '../../../support/wait.ts';

/** The services' own client libraries, pointed at a gateway as a person would. */
interface Clients {
  openai: OpenAI;
  anthropic: Anthropic;
  google: GoogleGenAI;
}

const connectClients = ({ url, personKey }: GatewayRig): Clients => ({
  openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: personKey, maxRetries: 0 }),
  anthropic: new Anthropic({ baseURL: url, apiKey: personKey, maxRetries: 0 }),
  google: new GoogleGenAI({ apiKey: personKey, httpOptions: { baseUrl: url } }),
});

const turn = [{ role: 'user' as const, content: 'Hello' }];

/** The text of an answer for each library, whole and streamed. */
const WAYS: Readonly<Record<string, (clients: Clients) => Promise<string>>> = {
  'openai chat': async ({ openai }) => {
    const answer = await openai.chat.completions.create({ model: MODEL, messages: turn });
    return answer.choices[0]?.message.content ?? '';
  },
  'openai chat, streamed': async ({ openai }) => {
    let text = '';
    let usages = 0;
    for await (const chunk of await openai.chat.completions.create({
      model: MODEL,
      messages: turn,
      stream: true,
    })) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.usage) usages += 1;
    }
    assert.equal(usages, 0, 'only clients that request usage receive it');
    return text;
  },
  'openai chat, streamed with usage': async ({ openai }) => {
    let text = '';
    let usages = 0;
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    for await (const chunk of await openai.chat.completions.create({
      model: MODEL,
      messages: turn,
      ...options,
    })) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.usage) usages += 1;
    }
    assert.equal(usages, 1);
    return text;
  },
  'openai responses': async ({ openai }) => {
    const answer = await openai.responses.create({ model: MODEL, input: 'Hello' });
    return answer.output_text;
  },
  'openai responses, streamed': async ({ openai }) => {
    const stream = openai.responses.stream({ model: MODEL, input: 'Hello' });
    const answer = await stream.finalResponse();
    return answer.output_text;
  },
  'anthropic messages': async ({ anthropic }) => {
    const answer = await anthropic.messages.create({ model: MODEL, max_tokens: 100, messages: turn });
    return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  'anthropic messages, streamed': async ({ anthropic }) => {
    const answer = await anthropic.messages
      .stream({ model: MODEL, max_tokens: 100, messages: turn })
      .finalMessage();
    assert.ok(answer.usage.output_tokens > 0);
    return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  'google generateContent': async ({ google }) => {
    const answer = await google.models.generateContent({ model: MODEL, contents: 'Hello' });
    return answer.text ?? '';
  },
  'google generateContent, streamed': async ({ google }) => {
    let text = '';
    for await (const chunk of await google.models.generateContentStream({ model: MODEL, contents: 'Hello' }))
      text += chunk.text ?? '';
    return text;
  },
};

describe("the services' own libraries", () => {
  let upstream: Upstream;
  let stub: GatewayRig;
  let live: GatewayRig;
  before(async () => {
    upstream = await startUpstream();
    stub = await makeGateway({ settings: { mode: 'stub' } });
    // The provider's own protocol, regardless of the caller's.
    const providers = [
      makeProvider(upstream.url, { protocols: ['chat', 'responses', 'messages', 'gemini'] }),
    ];
    live = await makeGateway({ settings: { providers } });
  });
  after(async () => {
    await stub.close();
    await live.close();
    await upstream.close();
  });

  for (const [name, ask] of Object.entries(WAYS)) {
    test(`${name}: the stub identifies itself`, async () => {
      assert.match(await ask(connectClients(stub)), /stub answer of the svc gateway/);
    });
    test(`${name}: the words of an upstream arrive`, async () => {
      assert.equal(await ask(connectClients(live)), WORDS);
    });
    test(`${name}: a wrong key is refused in a form that the library understands`, async () => {
      await assert.rejects(
        ask(connectClients({ ...live, personKey: 'svc-vkey-wrong' })),
        (error: { status?: number }) => {
          assert.equal(error.status, 401);
          return true;
        },
      );
    });
  }

  test('the stub answers in the requested form', async () => {
    const { openai, anthropic, google } = connectClients(stub);
    const schema = {
      type: 'object',
      properties: {
        level: { type: 'integer', minimum: 1 },
        kind: { enum: ['small', 'large'] },
        why: { type: 'string' },
      },
      required: ['level', 'kind', 'why'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', name: 'answer', schema } as const;
    const chat = await openai.chat.completions.create({
      model: 'svc',
      messages: turn,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });
    const responses = await openai.responses.create({ model: 'svc', input: 'Hello', text: { format } });
    const messages = await anthropic.messages.create({
      model: 'svc',
      max_tokens: 100,
      messages: turn,
      output_config: { format: { type: 'json_schema', schema } },
    });
    const [block] = messages.content;
    const gemini = await google.models.generateContent({
      model: MODEL,
      contents: 'Hello',
      config: { responseMimeType: 'application/json', responseJsonSchema: schema },
    });
    const texts = [
      chat.choices[0]?.message.content,
      responses.output_text,
      block?.type === 'text' ? block.text : null,
      gemini.text,
    ];
    for (const text of texts) {
      const { level, kind, why, ...more } = JSON.parse(text ?? '');
      assert.deepEqual([level, kind, more], [1, 'small', {}]);
      assert.match(why, /stub answer/);
    }
  });

  test('a Gemini stream without alt=sse is a JSON list that arrives item by item, from every provider', async () => {
    const ask = (rig: GatewayRig, model: string, query = ''): Promise<Response> =>
      rig.post(`/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent${query}`, {
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      });
    type Item = { candidates?: { content: { parts: { text: string }[] } }[]; error?: { code: number } };
    const wordsOf = (items: Item[]): string =>
      items.map(({ candidates }) => candidates?.[0]?.content.parts[0]?.text ?? '').join('');
    const providers = (['gemini', 'chat'] as const).map((protocol) =>
      makeProvider(upstream.url, { name: protocol, protocols: [protocol] }),
    );
    const rig = await makeGateway({ settings: { providers }, limits: { idleMs: 300 } });
    try {
      for (const name of ['gemini', 'chat']) {
        const model = `svc/${name}/${MODEL}`;
        for (const query of ['', '?alt=json']) {
          upstream.plan('one_byte_chunks');
          const answer = await ask(rig, model, query);
          assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
          assert.equal(wordsOf((await answer.json()) as Item[]), WORDS);
        }
        // The first item arrives before the rest; the stream then ends with an error.
        upstream.plan('stall_within');
        const reader = (await ask(rig, model)).body!.getReader();
        const decoder = new TextDecoder();
        let text = '';
        await assert.rejects(async () => {
          for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            text += decoder.decode(value, { stream: true });
          }
        });
        const items = JSON.parse(text) as Item[];
        assert.equal(items.at(-1)?.error?.code, 502);
        assert.ok(wordsOf(items).length > 0, text);
      }
      upstream.plan('none');
      const stubbed = await ask(stub, MODEL);
      assert.match(wordsOf((await stubbed.json()) as Item[]), /stub answer/);
      const rows = await rig.calls(6);
      assert.deepEqual(
        rows.map(({ outcome }) => outcome),
        ['ok', 'ok', 'cut', 'ok', 'ok', 'cut'],
      );
    } finally {
      upstream.plan('none');
      await rig.close();
    }
  });

  test('models, embeddings and counts of tokens', async () => {
    const { openai, anthropic, google } = connectClients(stub);
    const ids = (await openai.models.list()).data.map(({ id }) => id);
    assert.ok(ids.includes('svc/auto'));
    assert.equal((await openai.models.retrieve('svc')).id, 'svc');
    assert.ok((await anthropic.models.list()).data.some(({ id }) => id === 'svc/auto'));
    const names: (string | undefined)[] = [];
    for await (const model of await google.models.list()) names.push(model.name);
    assert.ok(names.includes('models/svc/auto'));
    const [first, again] = await Promise.all(
      [1, 2].map(() => openai.embeddings.create({ model: 'any', input: ['one', 'two'] })),
    );
    assert.equal(first?.data.length, 2);
    assert.deepEqual(first?.data[0]?.embedding, again?.data[0]?.embedding);
    assert.notDeepEqual(first?.data[0]?.embedding, first?.data[1]?.embedding);
    const counted = await anthropic.messages.countTokens({ model: MODEL, messages: turn });
    assert.ok(counted.input_tokens > 0);
    assert.ok(((await google.models.countTokens({ model: MODEL, contents: 'Hello' })).totalTokens ?? 0) > 0);
  });

  test('models, embeddings and counts of tokens of an upstream', async () => {
    const { openai, anthropic, google } = connectClients(live);
    const listed = await until(async () => (await openai.models.list()).data.find(({ id }) => id === MODEL));
    assert.equal((listed as { context_length?: number }).context_length, 128_000);
    assert.equal((await openai.models.retrieve(MODEL)).id, MODEL);
    await assert.rejects(openai.models.retrieve('nobody'), { status: 404 });
    const model = (await anthropic.models.list()).data.find(({ id }) => id === MODEL);
    assert.equal((model as { max_input_tokens?: number } | undefined)?.max_input_tokens, 128_000);
    assert.equal((await anthropic.models.retrieve(MODEL)).id, MODEL);
    assert.equal((await google.models.get({ model: MODEL })).inputTokenLimit, 128_000);
    const before = (await live.calls(0)).length;
    const embedded = await openai.embeddings.create({ model: MODEL, input: ['one', 'two'] });
    assert.deepEqual(embedded.data[1]?.embedding, [1, 0.5, -1]);
    const row = (await live.calls(before + 1)).at(-1)!;
    assert.deepEqual(
      [row.kind, row.outcome, row.input, row.output, row.is_estimated],
      ['embed', 'ok', 12, 0, 0],
    );
    const counted = await anthropic.messages.countTokens({ model: MODEL, messages: turn });
    assert.equal(counted.input_tokens, 12);
    assert.equal((await google.models.countTokens({ model: MODEL, contents: 'Hello' })).totalTokens, 12);
    assert.equal((await live.calls(0)).length, before + 1, 'counting tokens is free');
  });

  test("an upstream that cannot count gets an estimate, and a wrong request gets the upstream's own error", async () => {
    const { anthropic } = connectClients(live);
    const old = createServer((asked, response) => {
      asked.resume();
      response.writeHead(asked.url?.includes('refused') ? 400 : 404, { 'content-type': 'application/json' });
      response.end('{"type":"error","error":{"type":"not_found_error","message":"no"}}');
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
    const base = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
    try {
      for (const [path, status] of [
        ['', 200],
        ['/refused', 400],
      ] as const) {
        await live.configure({ providers: [makeProvider(`${base}${path}`, { protocols: ['messages'] })] });
        const answer = await live.post('/v1/messages/count_tokens', { model: MODEL, messages: turn });
        assert.equal(answer.status, status, path);
        if (status !== 200) continue;
        assert.equal(answer.headers.get('x-svc-estimated'), '1');
        assert.ok(((await answer.json()) as { input_tokens: number }).input_tokens > 0);
        assert.ok((await anthropic.messages.countTokens({ model: MODEL, messages: turn })).input_tokens > 0);
      }
    } finally {
      await live.configure({});
      old.close();
    }
  });

  test('the id of a call reaches its client and the log, which uses names of OpenTelemetry and has no content', async () => {
    for (const [fault, stream, status] of [
      ['none', false, 200],
      ['none', true, 200],
      ['status_503', false, 503],
    ] as const) {
      upstream.plan(fault);
      const answer = await live.post(
        '/v1/chat/completions',
        { model: MODEL, messages: turn, stream },
        { headers: { 'x-request-id': 'mine' } },
      );
      await answer.text();
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('x-request-id'), REQUEST_ID);
      assert.equal(upstream.asked.at(-1)?.headers['x-request-id'], 'mine');
      await live.calls(1);
      const [line] = JSON.parse(live.logged.at(-1)!) as [Record<string, unknown>];
      assert.equal((line.svc as { request: string }).request, REQUEST_ID);
      assert.equal(line['http.response.status_code'], status);
      if (status !== 200) continue;
      assert.deepEqual(
        [
          'operation.name',
          'provider.name',
          'request.model',
          'response.model',
          'usage.input_tokens',
          'usage.output_tokens',
        ].map((name) => line[`gen_ai.${name}`]),
        ['chat', 'up', MODEL, MODEL, 12, 5],
      );
    }
    upstream.plan('none');
    assert.doesNotMatch(live.logged.join(''), /Hello|Grüße|svc-vkey/);
  });

  test('HEAD / and GET / answer without a key, since Claude Code sends them before its first call', async () => {
    for (const method of ['HEAD', 'GET']) assert.equal((await fetch(live.url, { method })).status, 200);
  });

  test('a call that is switched off says so, and libraries do not retry it', async () => {
    await stub.configure({ mode: 'off' });
    const plain = await stub.post('/v1/messages', { model: 'svc', messages: turn });
    assert.equal(plain.headers.get('x-should-retry'), 'false');
    const said = (await plain.json()) as { error: { type: string; message: string } };
    assert.deepEqual([said.error.type, /ai\.mode is off/.test(said.error.message)], ['api_error', true]);
    const { openai } = connectClients(stub);
    await assert.rejects(openai.responses.create({ model: 'svc', input: 'Hello' }), {
      status: 503,
      code: 'gateway_off',
    });
    await stub.configure({ mode: 'stub' });
  });
});

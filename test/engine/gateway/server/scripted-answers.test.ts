import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { CallRow } from '../../../../engine/gateway/books/schema.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import { until } from '../../../support/wait.ts';

/** The upstream's answer to each request. */
interface Script {
  type: string;
  body: string;
  /** Closes the connection instead of ending the answer. */
  isCut?: boolean;
  /** Promise to await before the answer. */
  after?: Promise<void>;
}

const events = (...data: (object | string)[]): Script => ({
  type: 'text/event-stream',
  body: data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
});
const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (args: string): object =>
  chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: args } }] });

describe('answers of an upstream', () => {
  let server: Server;
  let rig: GatewayRig;
  let script: Script = events();
  const asked: string[] = [];
  let url = '';
  let booked = 0;

  /** Returns the text of an answer; for a cut answer it ends with an error. */
  async function post(path: string, body: object | string): Promise<{ text: string; isCached: boolean }> {
    const answer = await rig.post(path, body);
    booked += 1;
    const chunks: Buffer[] = [];
    try {
      for await (const each of answer.body ?? []) chunks.push(Buffer.from(each));
    } catch {
      chunks.push(Buffer.from('"cut"'));
    }
    return { text: Buffer.concat(chunks).toString('utf8'), isCached: answer.headers.has('x-svc-cache') };
  }
  async function lastRow(): Promise<CallRow> {
    const rows = await rig.calls(booked);
    assert.equal(rows.length, booked);
    return rows.at(-1)!;
  }

  before(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (each: Buffer) => chunks.push(each));
      request.on('end', async () => {
        if (request.method === 'GET') {
          response.writeHead(404).end();
          return;
        }
        asked.push(Buffer.concat(chunks).toString('utf8'));
        const { type, body, isCut, after: opened } = script;
        await opened;
        response.writeHead(200, { 'content-type': type });
        if (isCut) response.write(body, () => response.socket?.end());
        else response.end(body);
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    rig = await makeGateway({
      settings: {
        cacheTtlSec: 60,
        providers: [
          makeProvider(`${url}/v1`, { name: 'chat', model: 'm', limits: { context: 20_000, output: 4000 } }),
          makeProvider(url, { name: 'claude', protocols: ['messages'] }),
          makeProvider(url, { name: 'google', protocols: ['gemini'] }),
        ],
      },
      limits: { attempts: 1 },
    });
  });
  beforeEach(() => {
    asked.length = 0;
  });
  after(async () => {
    await rig.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  const say = (content: string | object[], more: object = {}): object => ({
    model: 'svc/chat',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content }],
    ...more,
  });

  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    test(`${path}: an answer that ends in the middle of a call is an error, and is not cached`, async () => {
      for (const [at, broken] of [
        events(call('{"path": "a'), '[DONE]'),
        events(call('{"path": "a')),
        { ...events(call('{"path": "a')), isCut: true },
      ].entries()) {
        const body = say(`${path} ${at}`);
        script = broken;
        const first = await post(path, body);
        assert.match(first.text, /"error"/);
        script = events(chunk({ content: 'fine' }), chunk({}, 'stop'), '[DONE]');
        const again = await post(path, body);
        assert.equal(again.isCached, false);
        assert.match(again.text, /fine/);
      }
    });

    test(`${path}: an answer without [DONE] is complete, and is cached`, async () => {
      for (const isCut of [false, true]) {
        const body = say(`${path} whole ${isCut}`);
        script = { ...events(chunk({ content: 'fine' }), chunk({}, 'stop')), isCut };
        const first = await post(path, body);
        assert.match(first.text, /fine/);
        assert.doesNotMatch(first.text, /"error"|"cut"/);
        script = events('[DONE]');
        assert.equal((await post(path, body)).isCached, true);
      }
    });
  }

  test('an untranslatable answer is booked as an error, and is not cached', async () => {
    const body = say('a call that its own reason calls whole');
    script = events(call('{"path": "a'), chunk({}, 'tool_calls'), '[DONE]');
    const { text } = await post('/v1/messages', body);
    assert.match(text, /event: error\n/);
    assert.doesNotMatch(text, /message_stop/);
    assert.equal((await lastRow()).outcome, 'failed');
    assert.equal((await post('/v1/messages', body)).isCached, false);
  });

  test('a request asks for at most the output that svc.yaml allows the model', async () => {
    script = events(chunk({ content: 'a' }, 'stop'), '[DONE]');
    await post('/v1/messages', say('limits', { max_tokens: 32_000 }));
    assert.equal(JSON.parse(asked[0]!).max_tokens, 4000);
    const long = 'word '.repeat(14_400);
    await post('/v1/messages', say(long, { max_tokens: 3900 }));
    const { max_tokens: most } = JSON.parse(asked[1]!);
    assert.ok(most >= 2500 && most < 3900, `${most} tokens fit after the prompt`);
    await post('/v1/chat/completions', say('own', { max_tokens: 32_000 }));
    assert.equal(JSON.parse(asked[2]!).max_tokens, 32_000, 'a body of its own protocol passes unchanged');
  });

  test('numbers that JavaScript cannot hold reach the client in a whole answer', async () => {
    const args = '{"id":2512292042121000001}';
    script = {
      type: 'application/json',
      body: `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${JSON.stringify(args)}}}]},"finish_reason":"tool_calls"}]}`,
    };
    const { text: whole } = await post('/v1/messages', say('ids', { stream: false }));
    assert.ok(whole.includes(args), whole);
    script = {
      type: 'application/json',
      body: `{"content":[{"type":"tool_use","id":"c","name":"f","input":${args}}],"stop_reason":"tool_use"}`,
    };
    const { text: chat } = await post(
      '/v1/chat/completions',
      say('ids', { stream: false, model: 'svc/claude/m' }),
    );
    assert.ok(chat.includes(JSON.stringify(args)), chat);
    const sealed = `{"model":"svc/claude/m","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":"${Buffer.from('{"svc":1,"sealed":[]}').toString('base64')}"},{"type":"tool_use","id":"t","name":"f","input":${args}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]}`;
    await post('/v1/messages', sealed);
    assert.ok(asked.at(-1)!.includes(args) && !asked.at(-1)!.includes('"so"'), asked.at(-1));
  });

  test('the books record the usage that each service reports', async () => {
    const usages: [usage: object, expected: [input: number, read: number, write: number, output: number]][] =
      [
        // xAI counts reasoning tokens in addition to the answer.
        [
          {
            prompt_tokens: 32,
            completion_tokens: 1499,
            total_tokens: 4340,
            completion_tokens_details: { reasoning_tokens: 2809 },
          },
          [32, 0, 0, 4308],
        ],
        // DeepSeek
        [
          {
            prompt_tokens: 100,
            completion_tokens: 5,
            total_tokens: 105,
            prompt_cache_hit_tokens: 64,
            prompt_cache_miss_tokens: 36,
          },
          [36, 64, 0, 5],
        ],
        // Moonshot
        [{ prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, cached_tokens: 40 }, [60, 40, 0, 5]],
        // OpenAI, and routers
        [
          {
            prompt_tokens: 100,
            completion_tokens: 5,
            prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 50 },
          },
          [10, 40, 50, 5],
        ],
        // Google's chat endpoint includes reasoning only in the total.
        [{ prompt_tokens: 20, completion_tokens: 10, total_tokens: 230 }, [20, 0, 0, 210]],
      ];
    for (const [at, [usage, expected]] of usages.entries())
      for (const path of ['/v1/messages', '/v1/chat/completions'])
        for (const stream of [true, false]) {
          const message = { role: 'assistant', content: 'a' };
          script = stream
            ? events(chunk({ content: 'a' }, 'stop'), { ...chunk({}), choices: [], usage }, '[DONE]')
            : {
                type: 'application/json',
                body: JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
              };
          await post(path, say(`usage ${at}`, { stream }));
          const { input, cache_read, cache_write, output, is_estimated } = await lastRow();
          assert.deepEqual([input, cache_read, cache_write, output, is_estimated], [...expected, 0]);
        }
    // Moonshot reports a stream's usage in its last choice.
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
    const last = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] };
    script = events(chunk({ content: 'a' }), last, '[DONE]');
    await post('/v1/chat/completions', say('in the choice'));
    const row = await lastRow();
    assert.deepEqual([row.input, row.output, row.is_estimated], [9, 2, 0]);
  });

  test('one-hour cache writes are booked separately, in a stream and whole', async () => {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 5424,
      cache_read_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 424, ephemeral_1h_input_tokens: 5000 },
      output_tokens: 2,
    };
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
    const ended = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 },
    };
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      script = events({ type: 'message_start', message }, ended, { type: 'message_stop' });
      await post(path, say('hour', { model: 'svc/claude/m' }));
      const streamed = await lastRow();
      script = { type: 'application/json', body: JSON.stringify({ ...message, stop_reason: 'end_turn' }) };
      await post(path, say('hour', { model: 'svc/claude/m', stream: false }));
      const whole = await lastRow();
      for (const [row, output] of [
        [streamed, 9],
        [whole, 2],
      ] as const)
        assert.deepEqual(
          [row.input, row.cache_read, row.cache_write, row.cache_write_hour, row.output],
          [3, 7, 5424, 5000, output],
        );
    }
  });

  test('three pictures of a megabyte fit into a budget, and a 402 says how much is reserved', async () => {
    const own = await makeGateway({
      settings: {
        budgetTokensDay: 400_000,
        providers: [makeProvider(`${url}/v1`, { name: 'chat', model: 'm' })],
      },
      limits: { attempts: 1 },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    try {
      script = { ...events(chunk({ content: 'a' }, 'stop'), '[DONE]'), after: promise };
      const picture = (n: number): object[] => {
        const bytes = Buffer.alloc(1_050_000, n);
        Buffer.from('89504e470d0a1a0a0000000d4948445200000780000004380802000000', 'hex').copy(bytes);
        const source = { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') };
        return [
          { type: 'image', source },
          { type: 'text', text: 'what is it?' },
        ];
      };
      const sent = [1, 2, 3].map((n) => own.post('/v1/messages', say(picture(n), { max_tokens: 8000 })));
      await until(() => asked.length === 3, 'all of them to be asked');
      sent.push(own.post('/v1/messages', say('x'.repeat(1_600_000), { max_tokens: 8000 })));
      await until(() => asked.length === 4, 'the one that goes beyond the budget');
      const denied = await own.post('/v1/messages', say('one more'));
      const { error } = (await denied.json()) as { error: { message: string } };
      assert.equal(denied.status, 402);
      const [, spent, reserved] =
        /: (\d+) tokens spent and (\d+) reserved .* of the 400000 tokens/.exec(error.message) ?? [];
      assert.equal(spent, '0');
      assert.ok(Number(reserved) > 400_000 && Number(reserved) < 440_000, error.message);
      resolve();
      for (const answer of await Promise.all(sent)) {
        assert.equal(answer.status, 200);
        await answer.text();
      }
    } finally {
      resolve();
      await own.close();
    }
  });
});

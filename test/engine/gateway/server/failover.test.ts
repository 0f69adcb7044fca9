import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startUpstream, type Upstream, WORDS } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';

/** The first provider's answer. */
interface Answer {
  status: number;
  body: string;
  type?: string;
}

const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) });
const stream = (...events: string[]): Answer => ({
  status: 200,
  body: events.map((each) => `${each}\n\n`).join(''),
  type: 'text/event-stream',
});
const data = (value: object): string => `data: ${JSON.stringify(value)}`;
const event = (value: { type: string }): string => `event: ${value.type}\n${data(value)}`;

/** Errors with which a provider says that another one must be asked. */
const OWN_TROUBLE: Readonly<Record<string, Answer>> = {
  'an empty wallet of Anthropic': json(400, {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'Your credit balance is too low to access the Anthropic API.',
    },
  }),
  'a wrong key of Google': json(400, {
    error: {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    },
  }),
  'a region that Google does not serve': json(400, {
    error: {
      code: 400,
      message: 'User location is not supported for the API use.',
      status: 'FAILED_PRECONDITION',
    },
  }),
  'an unknown model of DeepSeek': json(400, {
    error: { message: 'Model Not Exist', type: 'invalid_request_error', code: 'invalid_request_error' },
  }),
  'an unknown model of OpenRouter': json(400, {
    error: { message: 'acme/x-1 is not a valid model ID', code: 400 },
  }),
  'an unknown deployment of Azure': json(400, {
    error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
  }),
  'an account in arrears of DashScope': json(400, {
    code: 'Arrearage',
    message: 'Access denied, please make sure your account is in good standing.',
  }),
  'a wallet of GLM, in Chinese': json(400, {
    error: { code: '1113', message: '余额不足或无可用资源包,请充值。' },
  }),
  'a spent quota of OpenAI': json(400, {
    error: {
      message: 'You exceeded your current quota, please check your plan.',
      code: 'insufficient_quota',
    },
  }),
  'a billing limit': json(400, {
    error: { message: 'Billing hard limit has been reached', type: 'invalid_request_error' },
  }),
  'a model that was retired': json(410, { error: { message: 'The model `m-1` has been decommissioned' } }),
};

/** Errors of the request, some of which quote its text. */
const OF_REQUEST: Readonly<Record<string, Answer>> = {
  'a tool with a wrong name': json(400, {
    error: {
      message: "Invalid schema for function 'get_billing_quota': object expected",
      code: 'invalid_function_parameters',
    },
  }),
  'a prompt that is too long for the model': json(400, {
    error: { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' },
  }),
  'a value out of range': json(400, {
    error: { message: 'temperature must be at most 2', param: 'temperature' },
  }),
};

/** Streams that fail before their first content. */
const FAILED_STARTS: Readonly<Record<string, [path: string, Answer]>> = {
  'an overloaded Anthropic': [
    'messages',
    stream(event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as never)),
  ],
  'an Anthropic that fails after the start of its message': [
    'messages',
    stream(
      event({
        type: 'message_start',
        message: { id: 'm', usage: { input_tokens: 1, output_tokens: 0 } },
      } as never),
      event({ type: 'ping' }),
      event({ type: 'error', error: { type: 'api_error', message: 'Internal' } } as never),
    ),
  ],
  'an OpenRouter that was busy': [
    'chat',
    stream(
      ': OPENROUTER PROCESSING',
      ': OPENROUTER PROCESSING',
      data({ error: { code: 502, message: 'Provider error' } }),
    ),
  ],
  'a provider whose error lacks its blank line': [
    'chat',
    { ...stream(), body: data({ error: { code: 502, message: 'Provider error' } }) },
  ],
  'an OpenAI that created a response and then refused it for its quota': [
    'responses',
    stream(
      event({ type: 'response.created', response: { id: 'r', instructions: 'x'.repeat(50_000) } } as never),
      event({
        type: 'error',
        code: 'insufficient_quota',
        message: 'You exceeded your current quota',
      } as never),
    ),
  ],
  'a chat that only named its role': [
    'chat',
    stream(
      data({
        id: 'c',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
      }),
      data({ error: { message: 'overloaded', type: 'server_error' } }),
    ),
  ],
};

describe('a provider that cannot answer', () => {
  let first: Server;
  let second: Upstream;
  let rig: GatewayRig;
  let answer: Answer;
  let asked: string[] = [];
  before(async () => {
    first = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (each: Buffer) => chunks.push(each));
      request.on('end', () => {
        if (request.method === 'GET') {
          response.writeHead(404).end();
          return;
        }
        const body = Buffer.concat(chunks).toString('utf8');
        asked.push(body);
        if (answer.status === 422 && !body.includes('stream_options')) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(
            `${data({ id: 'c', choices: [{ index: 0, delta: { content: 'plain' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
          );
          return;
        }
        response.writeHead(answer.status, { 'content-type': answer.type ?? 'application/json' });
        response.end(answer.body);
      });
    });
    await new Promise<void>((listening) => first.listen(0, '127.0.0.1', listening));
    second = await startUpstream();
  });
  after(async () => {
    await rig.close();
    first.close();
    await second.close();
  });
  beforeEach(async () => {
    asked = [];
    await rig?.close();
    const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}`;
    const protocols = ['chat', 'messages', 'responses'] as const;
    rig = await makeGateway({
      settings: {
        providers: [
          makeProvider(`${url}/v1`, { name: 'first', protocols, priority: 1 }),
          makeProvider(`${second.url}/v1`, { name: 'second', protocols, priority: 2 }),
        ],
      },
    });
  });

  const post = (path = 'chat', isStream = false): Promise<Response> =>
    rig.post(path === 'chat' ? '/v1/chat/completions' : `/v1/${path}`, {
      model: 'm-1',
      ...(path === 'responses'
        ? { input: 'Hello' }
        : { max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }),
      ...(isStream ? { stream: true } : {}),
    });

  for (const [what, given] of Object.entries(OWN_TROUBLE))
    test(`${what} leads to the next provider`, async () => {
      answer = given;
      const got = await post();
      assert.equal(got.status, 200);
      assert.equal(got.headers.get('x-svc-provider'), 'second');
      assert.ok((await got.text()).includes(WORDS));
    });

  for (const [what, given] of Object.entries(OF_REQUEST))
    test(`${what} is the client's own mistake, and no other provider is called`, async () => {
      answer = given;
      const got = await post();
      assert.equal(got.status, 400);
      assert.equal(await got.text(), given.body);
    });

  for (const [what, [path, given]] of Object.entries(FAILED_STARTS))
    test(`${what} leads to the next provider`, async () => {
      answer = given;
      const got = await post(path, true);
      assert.deepEqual([got.status, got.headers.get('x-svc-provider')], [200, 'second']);
      const text = await got.text();
      assert.doesNotMatch(text, /OPENROUTER|"error":\{|insufficient_quota/);
      assert.equal((await rig.calls(1)).at(-1)?.attempts, 2);
    });

  test('an overlong prompt is reported in words on which the agent compacts, for any wording of the server', async () => {
    answer = json(400, { error: { message: 'Prompt exceeds max length', code: '1261' } });
    assert.match(await (await post('messages')).text(), /prompt is too long: Prompt exceeds max length/);
    assert.match(await (await post()).text(), /"code":"context_length_exceeded"/);
  });

  test('a client gets one error with its status where every stream fails at its start', async () => {
    answer = FAILED_STARTS['an overloaded Anthropic']![1];
    second.plan('status_529');
    const got = await post('messages', true);
    assert.equal(got.status, 529);
    assert.match(await got.text(), /^\{"type":"error"/);
    second.plan('none');
  });

  test('a stream that fails after its first words is reported to the client, and no other provider is called', async () => {
    answer = stream(
      data({ id: 'c', choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }] }),
      data({ error: { code: 502, message: 'Provider error' } }),
    );
    const got = await post('chat', true);
    assert.equal(got.headers.get('x-svc-provider'), 'first');
    assert.match(await got.text(), /Hel.*Provider error/s);
  });

  test('a server that refuses stream_options is called once more without it, and never again with it', async () => {
    answer = json(422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] });
    for (const count of [2, 3]) {
      const got = await post('chat', true);
      assert.equal(got.headers.get('x-svc-provider'), 'first');
      assert.match(await got.text(), /plain/);
      assert.equal(asked.length, count);
    }
    assert.deepEqual(
      asked.map((each) => each.includes('stream_options')),
      [true, false, false],
    );
  });

  test('stream_options is dropped for a translated call as well', async () => {
    answer = json(422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] });
    const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}`;
    await rig.configure({ providers: [makeProvider(`${url}/v1`, { name: 'first', protocols: ['chat'] })] });
    const got = await post('messages', true);
    assert.match(await got.text(), /plain/);
    assert.deepEqual(
      asked.map((each) => each.includes('stream_options')),
      [true, false],
    );
  });
});

test('a caller of another protocol is answered by responses, where a provider speaks them and chat', async () => {
  const upstream = await startUpstream();
  const rig = await makeGateway({
    settings: {
      providers: [makeProvider(`${upstream.url}/v1`, { name: 'openai', protocols: ['chat', 'responses'] })],
    },
  });
  try {
    const got = await rig.post('/v1/messages', {
      model: 'm-1',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    assert.ok((await got.text()).includes(WORDS));
    assert.deepEqual(
      upstream.asked.map(({ path }) => path),
      ['/v1/responses'],
    );
  } finally {
    await rig.close();
    await upstream.close();
  }
});

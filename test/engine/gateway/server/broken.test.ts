import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { until } from '../../../support/wait.ts';

const chat = '/v1/chat/completions';
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const answerWith = (head: string, status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${head}content-length: ${ANSWER.length}\r\n\r\n${ANSWER}`;

/** How each protocol's errors report a failure. */
const CALLS: Readonly<Record<string, { path: string; body: object; message(error: Json): unknown }>> = {
  chat: { path: chat, body: CHAT, message: ({ error }) => error.message },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', input: 'Hello' },
    message: ({ error }) => error.message,
  },
  messages: {
    path: '/v1/messages',
    body: { ...CHAT, max_tokens: 5 },
    message: ({ type, error }) => (type === 'error' ? error.message : null),
  },
  gemini: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    message: ({ error }) => (typeof error.code === 'number' && error.status ? error.message : null),
  },
};

describe('an upstream whose answer is malformed', () => {
  let server: Server;
  let rig: GatewayRig;
  let reply = '';
  /** The requested paths. */
  const asked: string[] = [];
  before(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      let request = '';
      socket.on('data', (chunk) => {
        request += chunk.toString('latin1');
        // A call has a JSON body.
        if (!request.endsWith('}') && !request.startsWith('GET')) return;
        const isCall = request.startsWith('POST');
        if (isCall) asked.push(request.split(' ')[1] ?? '');
        request = '';
        socket.write(isCall ? reply : 'HTTP/1.1 404 None\r\ncontent-length: 0\r\n\r\n', 'latin1');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/path/v1`;
    rig = await makeGateway({ settings: { providers: [makeProvider(baseUrl)] }, limits: { attempts: 1 } });
  });
  after(async () => {
    await rig.close();
    server.close();
  });
  let booked = 0;

  const REFUSED: Readonly<Record<string, readonly [reply: string, message: RegExp]>> = {
    'other protocol': ['HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', /is not HTTP/],
    'asked to go on': ['HTTP/1.1 100 Continue\r\n\r\n', /is not HTTP/],
    'no HTTP': ['220 mail.example ESMTP\r\n', /is not HTTP/],
    'control character': [answerWith('x-a: a\x01b\r\n'), /is not HTTP/],
    'huge headers': [answerWith(`x-a: ${'b'.repeat(30_000)}\r\n`), /headers of its answer are too large/],
    'no content': ['HTTP/1.1 204 No Content\r\n\r\n', /sent an empty answer \(status 204\)/],
    empty: ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', /sent an empty answer \(status 200\)/],
    'not modified': ['HTTP/1.1 304 Not Modified\r\n\r\n', /status 304, which is not an answer to a call/],
    elsewhere: [
      'HTTP/1.1 302 Found\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n',
      /redirects to another address \(302\)/,
    ],
    'unheard-of status': [answerWith('', '999 Huh'), /the provider answered with status 502/],
  };
  for (const [name, [given, message]] of Object.entries(REFUSED))
    test(`${name}: the caller gets a 502 in its own form, and the call is booked once`, async () => {
      reply = given;
      for (const [protocol, call] of Object.entries(CALLS)) {
        const answer = await rig.post(call.path, call.body);
        const told = call.message((await answer.json()) as Json);
        assert.equal(answer.status, 502, protocol);
        assert.match(String(told), message, protocol);
        assert.equal(answer.headers.get('location'), null);
        booked += 1;
        const rows = await rig.calls(booked);
        assert.deepEqual([rows.length, rows.at(-1)?.outcome, rows.at(-1)?.status], [booked, 'failed', 502]);
      }
    });

  test("an error of a web framework is returned in the caller's protocol", async () => {
    const said = [
      ['{"detail":"Not here"}', /^Not here$/],
      ['{"detail":[{"loc":["body","n"],"msg":"no number"}]}', /"no number"/],
      ['{"object":"error","message":"too odd","code":40}', /^too odd$/],
    ] as const;
    for (const [body, message] of said) {
      reply = `HTTP/1.1 422 No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      for (const [protocol, call] of Object.entries(CALLS)) {
        const answer = await rig.post(call.path, call.body);
        assert.equal(answer.status, 422);
        assert.match(String(call.message((await answer.json()) as Json)), message, protocol);
      }
    }
  });

  test("informational responses are skipped, and the gateway's own headers are not taken from them", async () => {
    const forged =
      'x-svc-stub: 1\r\nx-svc-cache: hit\r\nset-cookie: a=b\r\naccess-control-allow-origin: *\r\n';
    reply = `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${answerWith(`${forged}x-other: kept\r\n`)}`;
    const { status, headers } = await rig.post(chat, CHAT);
    assert.deepEqual([status, headers.get('x-other'), headers.get('x-svc-provider')], [200, 'kept', 'up']);
    for (const name of ['x-svc-stub', 'x-svc-cache', 'set-cookie', 'access-control-allow-origin'])
      assert.equal(headers.get(name), null, name);
    assert.equal(asked.at(-1), '/some/path/v1/chat/completions');
  });

  test('a virtual key is forwarded nowhere, under any name in the query', async () => {
    reply = answerWith('');
    const { status } = await rig.post(`${chat}?a=1&token=${rig.runKey}&b=2`, CHAT);
    assert.equal(status, 200);
    assert.equal(asked.at(-1), '/some/path/v1/chat/completions?a=1&b=2');
  });
});

test('an upstream without TLS and an unknown host name have their own messages', async () => {
  const plain = createWebServer().listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  try {
    for (const [baseUrl, message] of [
      [`https://127.0.0.1:${port}/v1`, /does not speak TLS, which https: requires/],
      ['http://no-such-name.invalid/v1', /cannot be reached \((?:ENOTFOUND|EAI_AGAIN)\)/],
    ] as const) {
      const rig = await makeGateway({
        settings: { providers: [makeProvider(baseUrl)] },
        limits: { attempts: 1 },
      });
      const answer = await rig.post(chat, CHAT);
      assert.equal(answer.status, 502);
      assert.match(await answer.text(), message);
      assert.equal((await rig.calls(1)).length, 1);
      await rig.close();
    }
  } finally {
    plain.closeAllConnections();
    plain.close();
  }
});

describe('a malformed request', () => {
  let rig: GatewayRig;
  before(async () => {
    rig = await makeGateway({ settings: { mode: 'stub' } });
  });
  after(() => rig.close());

  /** Returns the answer to these bytes until the gateway closes the connection. */
  async function send(
    text: string,
    afterwards = '',
  ): Promise<{ status: number; head: string; body: string; whole: string }> {
    const socket = connect(Number(new URL(rig.url).port), '127.0.0.1');
    let got = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        got += chunk.toString('latin1');
      });
    socket.write(text, 'latin1');
    if (afterwards !== '') {
      await until(() => got.endsWith('}'), 'the first answer');
      socket.write(afterwards);
    }
    await once(socket, 'close');
    const [head = '', body = ''] = got.split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), head, body, whole: got };
  }
  const start = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${rig.runKey}\r\n`;

  test('a malformed request is refused with a clear message, and must not be retried', async () => {
    const broken: [text: string, status: number, code: string][] = [
      [`${start(chat)}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`, 400, 'request_invalid'],
      [`${start(chat)}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400, 'request_invalid'],
      ['\x16\x03\x01hello\r\n\r\n', 400, 'request_invalid'],
      [`${start(chat)}x-a: ${'b'.repeat(40_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ];
    for (const [text, expected, code] of broken) {
      const { status, head, body } = await send(text);
      assert.deepEqual([status, JSON.parse(body).error.code], [expected, code]);
      assert.match(head, /x-should-retry: false/);
    }
    const rest = JSON.stringify(CHAT);
    const after = await send(
      `${start(chat)}content-length: ${rest.length}\r\n\r\n${rest}`,
      'no request\r\n\r\n',
    );
    assert.deepEqual([after.status, /"the request is not HTTP/.test(after.whole)], [200, true]);
    const within = await send(`${start('/v1/messages')}transfer-encoding: chunked\r\n\r\nzz\r\n{}`);
    assert.deepEqual([within.status, JSON.parse(within.body).type], [400, 'error']);
  });

  test('a malformed request cannot reach another path', async () => {
    for (const path of [
      '/v1/../-/status',
      `/s/${rig.runKey}/../-/status`,
      '//v1/models',
      '/%2e%2e/metrics',
      `${chat}/`,
      `http://evil.example${chat}`,
    ]) {
      const { status, body } = await send(`${start(path)}connection: close\r\ncontent-length: 2\r\n\r\n{}`);
      assert.deepEqual([status, JSON.parse(body).error.code], [404, 'not_found'], path);
    }
  });

  test('a malformed request cannot have two objects, nor a model name that is too long', async () => {
    for (const body of [
      `${JSON.stringify(CHAT)}{}`,
      '{} x',
      JSON.stringify({ ...CHAT, model: 'm'.repeat(513) }),
    ]) {
      const answer = await rig.post(chat, body);
      assert.equal(answer.status, 400, body.slice(0, 20));
      assert.equal(((await answer.json()) as Json).error.code, 'body_invalid');
    }
    assert.equal((await rig.post(chat, `${JSON.stringify(CHAT)}\r\n \t`)).status, 200);
  });

  test('Prometheus can read the counters for a model with any name', async () => {
    const model = 'a"\\b\u0000\u001b[31m\nc\ud800';
    const upstream = createWebServer((request, response) => {
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end(ANSWER);
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
    const live = await makeGateway({ settings: { providers: [makeProvider(baseUrl)] } });
    try {
      assert.equal((await live.post(chat, { ...CHAT, model })).status, 200);
      await live.calls(1);
      const read = async (): Promise<string> =>
        (
          await fetch(`${live.url}/metrics`, { headers: { authorization: `Bearer ${live.gateway.token}` } })
        ).text();
      await until(async () => (await read()).includes('svc_gateway_tokens_total{'), 'the call to be counted');
      for (const line of (await read()).trimEnd().split('\n'))
        assert.match(line, /^(?:# TYPE \w+ \w+|\w+(?:\{(?:\w+="[^"\\\p{Cc}]*",?)*\})? [\d.e+-]+)$/u, line);
    } finally {
      await live.close();
      upstream.closeAllConnections();
      upstream.close();
    }
  });
});

test('nothing is listed where models are off, and counts and embeddings arrive whole', async () => {
  const off = await makeGateway({ settings: { mode: 'off' } });
  const listed = await fetch(`${off.url}/v1/models`, { headers: { authorization: `Bearer ${off.runKey}` } });
  assert.equal(listed.status, 503);
  assert.match(await listed.text(), /ai\.mode is off/);
  await off.close();
  const upstream = createWebServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ input_tokens: 7 }));
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const rig = await makeGateway({
    settings: { providers: [makeProvider(baseUrl, { protocols: ['messages'] })] },
  });
  try {
    const counted = await rig.post('/v1/messages/count_tokens', { ...CHAT, stream: true });
    assert.deepEqual([counted.status, await counted.json()], [200, { input_tokens: 7 }]);
  } finally {
    await rig.close();
    upstream.closeAllConnections();
    upstream.close();
  }
});

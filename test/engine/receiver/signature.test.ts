import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { createVerifier, SCHEMES, signRequest } from '../../../engine/core/http/signature.ts';
import { NOW } from '../../support/clock.ts';
import { chat, codehost, makeRig, poll, type Rig, SECRET, svcHeaders, task } from './rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.close());

const tasksMade = () => rig.tasks.list({}).length;

test("the code host's published example verifies", () => {
  const secret = "It's a Secret to Everybody";
  const value = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const headers = { 'x-hub-signature-256': value };
  assert.equal(signRequest(SCHEMES.codehost, secret, '', 'Hello, World!'), value);
  const verify = createVerifier([secret]);
  assert.ok(verify(SCHEMES.codehost, headers, '', Buffer.from('Hello, World!')));
  assert.equal(verify(SCHEMES.codehost, headers, '', Buffer.from('Hello, World?')), null);
});

test("the chat service's published example verifies, under its own header names too", async () => {
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const timestamp = '1531420618';
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const value = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
  assert.equal(signRequest(SCHEMES.chat, secret, timestamp, body), value);
  const other = makeRig({ secrets: [secret] });
  try {
    other.clock.set(Number(timestamp) * 1000);
    const headers = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': value };
    const answer = await other.ask({ path: '/chat', headers, body });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.response_type, 'ephemeral');
  } finally {
    other.close();
  }
});

test('the /task scheme is hex HMAC-SHA256 over `<timestamp>.<raw body>`', async () => {
  const body = '{"agent":"scripted","prompt":"x"}';
  const timestamp = String(NOW / 1000);
  const signature = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex');
  const headers = { 'x-svc-timestamp': timestamp, 'x-svc-signature': signature };
  assert.equal((await rig.ask({ path: '/task', headers, body })).status, 201);
});

test('a signature that is missing, malformed or wrong is 401 signature_invalid with WWW-Authenticate', async () => {
  const good = task(rig);
  const signature = String(good.headers?.['x-svc-signature']);
  const flipped = `${signature.startsWith('0') ? '1' : '0'}${signature.slice(1)}`;
  const wrong: (string | string[] | undefined)[] = [
    undefined,
    '',
    flipped,
    signature.slice(1),
    `${signature}00`,
    `${signature.slice(0, 63)}g`,
    `sha256=${signature}`,
    ` ${signature}`,
    `${signature}, ${signature}`,
    [signature, signature],
  ];
  for (const value of wrong) {
    const headers = { ...good.headers };
    if (value === undefined) delete headers['x-svc-signature'];
    else headers['x-svc-signature'] = value;
    const answer = await rig.ask({ ...good, headers });
    assert.equal(answer.status, 401, JSON.stringify(value));
    assert.equal(answer.body.code, 'signature_invalid');
    assert.match(answer.headers['www-authenticate'] ?? '', /X-Svc-Signature/);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    assert.deepEqual(Object.keys(answer.body).slice(0, 5), ['type', 'title', 'status', 'detail', 'code']);
    assert.doesNotMatch(answer.text, new RegExp(signature), 'no answer contains an expected signature');
  }
  assert.equal(tasksMade(), 0);
  assert.equal((await rig.ask(good)).status, 201, 'a failed signature never enters the replay cache');
});

test('the prefix of the code host or the chat scheme is required', async () => {
  for (const [ask, name] of [
    [codehost({ zen: 'x', hook_id: 1 }), 'x-hub-signature-256'],
    [chat(rig, 'help'), 'x-chat-signature'],
  ] as const) {
    const bare = String(ask.headers?.[name]).replace(/^.*=/, '');
    assert.equal((await rig.ask({ ...ask, headers: { ...ask.headers, [name]: bare } })).status, 401);
    assert.equal((await rig.ask(ask)).status, 200);
  }
});

test('hex in upper case is the same signature, for the replay cache too', async () => {
  const ask = task(rig);
  const upper = { ...ask.headers, 'x-svc-signature': String(ask.headers?.['x-svc-signature']).toUpperCase() };
  assert.equal((await rig.ask({ ...ask, headers: upper })).status, 201);
  assert.equal((await rig.ask(ask)).status, 409);
});

test('a signature over other bytes than the body is refused, however alike they parse', async () => {
  const ask = task(rig);
  assert.equal((await rig.ask({ ...ask, body: `${ask.body} ` })).status, 401);
});

test('both secrets verify during a rotation', async () => {
  const both = makeRig({ secrets: ['the new one', SECRET] });
  try {
    const body = '{"agent":"scripted","prompt":"x"}';
    for (const secret of ['the new one', SECRET]) {
      const answer = await both.ask({ path: '/task', body, headers: svcHeaders(body, NOW, secret) });
      assert.equal(answer.status, 201);
    }
    assert.equal(
      (await both.ask({ path: '/task', body, headers: svcHeaders(body, NOW, 'another') })).status,
      401,
    );
  } finally {
    both.close();
  }
});

test('a receiver without a secret, or with an empty one, is refused', () => {
  for (const secrets of [[], [''], [SECRET, '']]) {
    assert.throws(
      () => rig.receiver.open(secrets),
      (error: SvcError) => error instanceof SvcError && error.code === 'secret_missing',
    );
  }
});

test("a timestamp that is missing or not plain decimal seconds is 401 timestamp_out_of_range with the server's time", async () => {
  const seconds = NOW / 1000;
  const wrong = [
    undefined,
    '',
    'now',
    `${seconds}.5`,
    `+${seconds}`,
    `-${seconds}`,
    ` ${seconds}`,
    `${seconds}s`,
  ];
  wrong.push(`0x${seconds.toString(16)}`, '1e9', String(NOW), '9'.repeat(400), `${seconds}, ${seconds}`);
  const body = '{"agent":"scripted","prompt":"x"}';
  for (const value of wrong) {
    const headers: Record<string, string> = {
      'x-svc-signature': signRequest(SCHEMES.svc, SECRET, value ?? '', body),
      ...(value === undefined ? {} : { 'x-svc-timestamp': value }),
    };
    const answer = await rig.ask({ path: '/task', headers, body });
    assert.equal(answer.status, 401, String(value));
    assert.equal(answer.body.code, 'timestamp_out_of_range');
    assert.equal(answer.body.server_time, seconds);
    assert.ok(answer.headers['www-authenticate']);
  }
});

test('a timestamp 300 s away is accepted on either side, one more second is not', async () => {
  for (const [offset, status] of [
    [-300, 201],
    [300, 201],
    [-301, 401],
    [301, 401],
  ] as const) {
    const body = JSON.stringify({ agent: 'scripted', prompt: 'x', nonce: offset });
    const headers = svcHeaders(body, NOW + offset * 1000);
    assert.equal((await rig.ask({ path: '/task', headers, body })).status, status, String(offset));
  }
});

test('the skew rule applies on /chat and on GET /decisions too, and cannot on /codehost', async () => {
  const late = { clock: { ...rig.clock, now: () => NOW - 301_000 } };
  assert.equal((await rig.ask(chat(late, 'help'))).status, 401);
  assert.equal((await rig.ask(poll(late, 'd-1'))).status, 401);
  assert.equal((await rig.ask(codehost({ zen: 'x', hook_id: 1 }))).status, 200);
});

test('many failed signatures from one address answer 429 with Retry-After, a valid one is never refused for it', async () => {
  const bad = {
    path: '/task',
    body: '{}',
    headers: { ...svcHeaders('{}', NOW), 'x-svc-signature': '0'.repeat(64) },
  };
  const answers = [];
  for (let count = 0; count < 200; count++) answers.push(await rig.ask(bad));
  assert.equal(answers[0]?.status, 401);
  const limited = answers.at(-1);
  assert.equal(limited?.status, 429);
  assert.equal(limited?.body.code, 'too_many_failures');
  assert.match(limited?.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  assert.equal((await rig.ask(task(rig))).status, 201, 'valid, same address');
  assert.equal((await rig.ask({ ...bad, remote: '10.0.0.9' })).status, 401, 'from another address');
  rig.clock.advance(Number(limited?.headers['retry-after']) * 1000);
  const fresh = {
    ...bad,
    headers: { ...svcHeaders('{}', rig.clock.now()), 'x-svc-signature': '0'.repeat(64) },
  };
  assert.equal((await rig.ask(fresh)).status, 401, 'after the wait');
});

test('a secret of one route verifies no request to another, and a route without one is closed', async () => {
  const byRoute = { task: ['of the task'], codehost: ['of the code host'], chat: ['of the chat'] };
  const open = (secrets: Parameters<Rig['receiver']['open']>[0]) => rig.receiver.open(secrets).receive;
  let nonce = 0;
  const statusOf = async (receive: ReturnType<typeof open>, path: string, secret: string) => {
    const body =
      path === '/chat'
        ? `text=help&user_id=U1&n=${++nonce}`
        : JSON.stringify({ nonce: ++nonce, zen: 'x', hook_id: 1 });
    const at = String(Math.floor(rig.clock.now() / 1000));
    const headers: Record<string, string> = {
      'x-svc-timestamp': at,
      'x-svc-signature': signRequest(SCHEMES.svc, secret, at, body),
      'x-hub-signature-256': signRequest(SCHEMES.codehost, secret, '', body),
      'x-chat-request-timestamp': at,
      'x-chat-signature': signRequest(SCHEMES.chat, secret, at, body),
    };
    const request = { method: 'POST', path, headers, body: Buffer.from(body), remote: '127.0.0.1' };
    return (await receive(request)).status;
  };
  const receive = open(byRoute);
  const paths = ['/task', '/codehost', '/chat'];
  for (const [at, path] of paths.entries())
    for (const [other, [secret = '']] of Object.values(byRoute).entries())
      assert.equal((await statusOf(receive, path, secret)) === 401, at !== other, `${path} under ${secret}`);
  for (const path of ['/decisions/d-1/approve', '/decisions/d-1/deny'])
    assert.equal(await statusOf(receive, path, 'of the task'), 404, `${path} is closed`);
  const decisions = open({ decisions: ['new', 'old'] });
  for (const secret of ['new', 'old'])
    assert.equal(await statusOf(decisions, '/decisions/d-9/approve', secret), 404);
  assert.equal(await statusOf(decisions, '/decisions/d-9/approve', 'of the task'), 401);
  assert.equal(await statusOf(decisions, '/task', 'new'), 404);
  for (const none of [{}, { task: [] }, { task: [''] }])
    assert.throws(() => open(none), { code: 'secret_missing' });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { LARGEST_SIGNED_BYTES } from '../../../engine/core/http/signature.ts';
import type { AccessLogEntry, ListenOptions, ReceiverListener } from '../../../engine/receiver/index.ts';
import { settled } from '../../support/wait.ts';
import { type Ask, makeRig, poll, type Rig, SECRET, svcHeaders, task } from './rig.ts';

let rig: Rig;
let listeners: ReceiverListener[];
beforeEach(() => {
  rig = makeRig();
  listeners = [];
});
afterEach(async () => {
  await Promise.all(listeners.map((listener) => listener.close()));
  rig.close();
});

async function listen(options: Partial<ListenOptions> = {}): Promise<ReceiverListener> {
  const listener = await rig.receiver.listen({ host: '127.0.0.1', port: 0, secrets: [SECRET], ...options });
  listeners.push(listener);
  return listener;
}

const url = ({ address }: ReceiverListener, path: string) =>
  `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}${path}`;

const post = (listener: ReceiverListener, { method = 'POST', path, headers, body }: Ask) =>
  fetch(url(listener, path), {
    method,
    headers: headers as Record<string, string>,
    ...(method === 'GET' ? {} : { body: String(body) }),
  });

/** A raw connection, and everything that it receives until it closes. */
async function raw({ address }: ReceiverListener): Promise<{ socket: Socket; received: Promise<string> }> {
  const socket = connect(address.port, address.host);
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const received = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  return { socket, received };
}

const refusal = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;

test('a signed request over real HTTP creates a task that is in the database when the answer arrives', async () => {
  const seen: AccessLogEntry[] = [];
  const listener = await listen({ onAccess: (access) => seen.push(access) });
  const answer = await post(listener, { ...task(rig), path: '/task?x=secret' });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const { task_id } = (await answer.json()) as { task_id: string };
  assert.equal(rig.tasks.get(task_id).source, 'task');
  assert.equal((await post(listener, poll(rig, 'd-1'))).status, 200);
  const [first, second] = seen;
  assert.deepEqual(
    { ...first, ms: 0 },
    {
      at: '2026-01-02T03:04:05.000Z',
      remote: '127.0.0.1',
      method: 'POST',
      path: '/task',
      status: 201,
      ms: 0,
      code: null,
      taskId: task_id,
    },
  );
  assert.equal(second?.path, '/decisions/d-1');
});

test('the access log names the code of a refusal, never a signature', async () => {
  const seen: AccessLogEntry[] = [];
  const listener = await listen({ onAccess: (access) => seen.push(access) });
  const headers = { ...svcHeaders('{}', rig.clock.now()), 'x-svc-signature': 'f'.repeat(64) };
  const answer = await post(listener, { path: '/task', body: '{}', headers });
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  assert.equal(seen[0]?.code, 'signature_invalid');
  assert.doesNotMatch(JSON.stringify(seen), /ffff/);
});

test('an address that others can reach is refused without allowRemote', async () => {
  for (const host of ['0.0.0.0', '::', '', '192.168.1.7', '10.0.0.1', 'example.com', '::ffff:192.168.1.7']) {
    await assert.rejects(listen({ host }), refusal('address_refused'), host);
  }
  for (const host of ['127.0.0.1', 'localhost', '::1'])
    assert.ok((await listen({ host })).address.port > 0, host);
  for (const host of ['0.0.0.0', ''])
    assert.ok((await listen({ host, allowRemote: true })).address.port > 0, host);
});

test('a port in use is address_in_use', async () => {
  const { address } = await listen();
  await assert.rejects(listen({ port: address.port }), refusal('address_in_use'));
});

test('a body declared too large is 413 immediately: the receiver does not wait for it, and closes the connection', async () => {
  const { socket, received } = await raw(await listen());
  socket.write(`POST /task HTTP/1.1\r\nhost: x\r\ncontent-length: ${LARGEST_SIGNED_BYTES + 1}\r\n\r\n{`);
  const text = await received;
  assert.match(text, /^HTTP\/1\.1 413 /);
  assert.match(text, /connection: close/i);
  assert.match(text, /"code":"body_too_large"/);
});

test('a client that expects 100-continue does not get it for too large a body', async () => {
  const { socket, received } = await raw(await listen());
  socket.write(`POST /task HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 900000\r\n\r\n`);
  assert.match(await received, /^HTTP\/1\.1 413 /);
});

test('a client that expects 100-continue gets it for a valid size', async () => {
  const listener = await listen();
  const { body, headers } = task(rig);
  const sent = httpRequest(url(listener, '/task'), {
    method: 'POST',
    headers: { ...headers, expect: '100-continue', 'content-length': Buffer.byteLength(String(body)) },
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  assert.equal(response.statusCode, 201);
});

test('a streamed body is 413 as soon as it passes the limit, and reading stops', async () => {
  const { socket, received } = await raw(await listen());
  socket.write('POST /task HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  let sent = 0;
  while (!socket.destroyed && sent < 1024) {
    sent += 1;
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => undefined), received]);
  }
  const text = await received;
  assert.match(text, /^HTTP\/1\.1 413 /);
  assert.match(text, /"code":"body_too_large"/);
});

test('a refusal before the body closes the connection, since the rest cannot be told from a request', async () => {
  const { socket, received } = await raw(await listen());
  socket.write('POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n');
  assert.match(await received, /^HTTP\/1\.1 404 (?:.|\r|\n)*connection: close/i);
});

test('a slow body is cut off', async () => {
  const { socket, received } = await raw(await listen({ limits: { timeoutMs: 150 } }));
  const { body, headers } = task(rig);
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /task HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${String(body).length}\r\n\r\n{`,
  );
  assert.match(await settled(received, 'the cut'), /^HTTP\/1\.1 408 /);
  assert.equal(rig.tasks.list({}).length, 0);
});

test('slow headers, and a silent connection, are cut off', async () => {
  const listener = await listen({ limits: { timeoutMs: 150 } });
  const [slow, silent] = await Promise.all([raw(listener), raw(listener)]);
  slow.socket.write('POST /task HTTP/1.1\r\nhost: x\r\n');
  await settled(Promise.all([slow.received, silent.received]), 'the cuts');
});

test('connections beyond the cap are closed, those within it are served', async () => {
  const listener = await listen({ limits: { connections: 2 } });
  const first = await raw(listener);
  const second = await raw(listener);
  const third = await raw(listener);
  assert.equal(await settled(third.received, 'the refused connection'), '');
  const { body, headers } = task(rig);
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = `content-length: ${Buffer.byteLength(String(body))}\r\nconnection: close\r\n\r\n`;
  first.socket.write(`POST /task HTTP/1.1\r\nhost: x\r\n${lines.join('')}${length}${body}`);
  assert.match(await first.received, /^HTTP\/1\.1 201 /);
  second.socket.destroy();
});

test('a header that came twice on the wire is malformed', async () => {
  const { socket, received } = await raw(await listen());
  const { body, headers } = task(rig);
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const twice = `x-svc-signature: ${headers?.['x-svc-signature']}\r\n`;
  const length = `content-length: ${Buffer.byteLength(String(body))}\r\nconnection: close\r\n\r\n`;
  socket.write(`POST /task HTTP/1.1\r\nhost: x\r\n${lines.join('')}${twice}${length}${body}`);
  assert.match(await received, /^HTTP\/1\.1 401 /);
});

test('exactly one of 20 concurrent copies over HTTP is accepted', async () => {
  const listener = await listen();
  const ask = task(rig);
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(listener, ask)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(409)]);
  assert.equal(rig.tasks.list({}).length, 1);
});

test('closing finishes current answers, closes idle connections, and accepts no new ones', async () => {
  const listener = await listen();
  const idle = await raw(listener);
  const answering = post(listener, task(rig));
  const { socket, received } = await raw(listener);
  const { body, headers } = task(rig);
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const half = `POST /task HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${String(body).length}\r\n\r\n{`;
  socket.write(half);
  assert.equal((await answering).status, 201);
  const closed = listener.close();
  socket.write(String(body).slice(1));
  assert.match(await received, /^HTTP\/1\.1 201 (?:.|\r|\n)*connection: close/i);
  await settled(closed, 'the listener');
  await settled(idle.received, 'the idle connection');
  await assert.rejects(post(listener, task(rig)));
});

test('closing does not wait for a client that never ends its request', async () => {
  const listener = await listen({ limits: { closeMs: 100 } });
  const { socket, received } = await raw(listener);
  socket.write('POST /task HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
  // An answered request on a second connection shows that the first one has been read.
  await post(listener, task(rig));
  await settled(listener.close(), 'the listener');
  await settled(received, 'the connection');
});

test('a client that disconnects in the middle does not harm the listener', async () => {
  const listener = await listen();
  const { socket } = await raw(listener);
  socket.write('POST /task HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
  socket.resetAndDestroy();
  assert.equal((await post(listener, task(rig))).status, 201);
});

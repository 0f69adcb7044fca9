import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { MODEL, startUpstream, type Upstream } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { until } from '../../../support/wait.ts';

const CHAT = { model: MODEL, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };
const STREAM = { ...CHAT, stream: true };
const chat = '/v1/chat/completions';
const MB = 1024 ** 2;

describe('clients that are slow, strange or gone', () => {
  let upstream: Upstream;
  let rig: GatewayRig;
  before(async () => {
    upstream = await startUpstream();
    const providers = [
      makeProvider(upstream.url, { protocols: ['chat', 'responses', 'messages', 'gemini'] }),
    ];
    rig = await makeGateway({ settings: { providers }, limits: { slowClientMs: 300 } });
  });
  after(async () => {
    await rig.close();
    await upstream.close();
  });
  let booked = 0;
  const lastRow = async () => {
    booked += 1;
    const rows = await rig.calls(booked);
    assert.equal(rows.length, booked, 'recorded once');
    return rows.at(-1)!;
  };

  /** Sends a raw request over a separate socket. */
  function sendRaw(body: string, { length = body.length } = {}): Socket {
    const socket = connect(Number(new URL(rig.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const head = [
      `POST ${chat} HTTP/1.1`,
      'host: 127.0.0.1',
      `authorization: Bearer ${rig.runKey}`,
      `content-length: ${length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return socket;
  }

  test('a client that reads nothing slows its upstream down, and is cut off', async () => {
    upstream.plan('flood');
    const socket = sendRaw(JSON.stringify(STREAM));
    socket.pause();
    await until(upstream.closedByClient, 'the upstream to be let go');
    assert.ok(upstream.floodedBytes() < 24 * MB, `${upstream.floodedBytes()} bytes were read`);
    const row = await lastRow();
    assert.deepEqual([row.outcome, row.is_estimated], ['client_gone', 1]);
    socket.destroy();
  });

  test('a client that reads gets all of a stream of 64 MB', async () => {
    upstream.plan('flood');
    // On a busy machine a reading client may pause for longer than the other tests allow.
    const patient = await makeGateway({ settings: { providers: [makeProvider(upstream.url)] } });
    try {
      const answer = await patient.post(chat, STREAM);
      let size = 0;
      let last = Buffer.alloc(0);
      for await (const chunk of answer.body ?? []) {
        size += chunk.length;
        last = Buffer.from(chunk);
      }
      assert.ok(size > 64 * MB);
      assert.match(last.toString(), /\[DONE\]\s*$/);
      const [row] = await patient.calls(1);
      assert.deepEqual([row?.outcome, row?.output, row?.is_estimated], ['ok', 5, 0]);
    } finally {
      await patient.close();
    }
  });

  test('a client that stops sending its request gets an error in its own form', async () => {
    const hasty = await makeGateway({ settings: { mode: 'stub' }, limits: { silentClientMs: 50 } });
    const told: [path: string, pick: (error: Json) => unknown, expected: unknown][] = [
      [chat, ({ error }) => error.code, 'request_timeout'],
      ['/v1/messages', ({ error }) => error.type, 'timeout_error'],
      ['/v1beta/models/m:generateContent', ({ error }) => error.status, 'DEADLINE_EXCEEDED'],
    ];
    try {
      for (const [path, pick, expected] of told) {
        const headers = { authorization: `Bearer ${hasty.runKey}`, 'content-length': 1000 };
        const asking = request(`${hasty.url}${path}`, { method: 'POST', headers });
        asking.on('error', () => undefined);
        asking.write('{"model":');
        const [answer] = (await once(asking, 'response')) as [IncomingMessage];
        let text = '';
        for await (const chunk of answer) text += chunk;
        assert.equal(answer.statusCode, 408);
        assert.equal(answer.headers.connection, 'close');
        assert.equal(pick(JSON.parse(text)), expected, text);
        asking.destroy();
      }
    } finally {
      await hasty.close();
    }
  });

  test('a client that leaves after half of its request has made no call', async () => {
    const asked = upstream.asked.length;
    const socket = sendRaw('{"model":', { length: 1000 });
    await once(socket, 'connect');
    socket.destroy();
    upstream.plan('none');
    assert.equal((await rig.post(chat, CHAT)).status, 200);
    assert.equal((await lastRow()).outcome, 'ok');
    assert.equal(upstream.asked.length, asked + 1);
  });

  test('a client that closes its half of the connection while it waits has left', async () => {
    upstream.plan('stall_before');
    const asked = upstream.asked.length;
    const socket = sendRaw(JSON.stringify(CHAT));
    await until(() => upstream.asked.length > asked);
    socket.end();
    await until(upstream.closedByClient, 'the upstream to hear of it');
    const row = await lastRow();
    assert.deepEqual([row.outcome, row.status], ['client_gone', 499]);
    socket.destroy();
  });

  test('a client that closes right after the last event has had its answer, in every protocol', async () => {
    const turn = [{ role: 'user', content: 'Hello' }];
    const ends: [path: string, body: object, end: string][] = [
      [chat, { ...STREAM, stream_options: { include_usage: true } }, '[DONE]'],
      ['/v1/responses', { model: MODEL, stream: true, input: turn }, '"response.completed"'],
      ['/v1/messages', { ...STREAM, messages: turn }, '"message_stop"'],
      [
        `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
        { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
        '"finishReason"',
      ],
    ];
    for (const [path, body, end] of ends) {
      upstream.plan('no_end');
      const leaving = new AbortController();
      const reader = (await rig.post(path, body, { signal: leaving.signal })).body!.getReader();
      let text = '';
      while (!text.includes(end)) text += Buffer.from((await reader.read()).value ?? []).toString('latin1');
      leaving.abort();
      const row = await lastRow();
      assert.deepEqual(
        [row.outcome, row.input, row.cache_read, row.output, row.is_estimated],
        ['ok', 9, 3, 5, 0],
        path,
      );
    }
  });

  test('a request of 60 MB arrives byte for byte, and one of more than 64 MB is refused', async () => {
    upstream.plan('none');
    const body = JSON.stringify({ ...CHAT, pad: 'x\\"'.repeat(12 * MB) });
    assert.ok(body.length > 60 * MB);
    const answer = await rig.post(chat, body);
    assert.equal(answer.status, 200, await answer.text());
    const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
    assert.equal(digest(upstream.asked.at(-1)!.body), digest(body));
    upstream.asked.pop();
    assert.equal((await lastRow()).bytes_in, body.length);
    // The declared length is refused before its bytes are sent.
    const refused = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const headers = { 'content-length': 65 * MB, authorization: `Bearer ${rig.runKey}` };
      const sent = request(`${rig.url}${chat}`, { method: 'POST', headers }, async (got) => {
        let text = '';
        for await (const chunk of got) text += String(chunk);
        resolve({ status: got.statusCode, text });
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    assert.equal(refused.status, 413);
    assert.equal(JSON.parse(refused.text).error.code, 'body_too_large');
  });

  test('the memory of requests and answers is bounded in total', async () => {
    const small = await makeGateway({
      settings: { providers: [makeProvider(upstream.url)] },
      limits: { mostHeldBytes: 2 * MB, attempts: 1 },
    });
    try {
      upstream.plan('none');
      const busy = await small.post(chat, { ...CHAT, pad: 'x'.repeat(3 * MB) });
      assert.equal(busy.status, 503);
      assert.equal(((await busy.json()) as { error: { code: string } }).error.code, 'busy');
      upstream.plan('flood');
      const tooMuch = await small.post(chat, CHAT);
      assert.equal(tooMuch.status, 503);
      assert.equal(((await tooMuch.json()) as { error: { code: string } }).error.code, 'busy');
      upstream.plan('none');
      for (let turn = 0; turn < 4; turn += 1)
        assert.equal(
          (await small.post(chat, { ...CHAT, pad: 'x'.repeat(MB) })).status,
          200,
          'the memory is released',
        );
    } finally {
      await small.close();
    }
  });

  test('a compressed request is read, and one that is too large, broken or unknown is refused', async () => {
    const small = await makeGateway({ settings: { mode: 'stub' }, limits: { mostRequestBytes: MB } });
    const post = async (body: Buffer, encoding: string): Promise<number> => {
      const headers = { authorization: `Bearer ${small.runKey}`, 'content-encoding': encoding };
      const answer = await fetch(`${small.url}${chat}`, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
      });
      assert.equal(answer.ok || answer.headers.get('x-should-retry') === 'false', true);
      await answer.text();
      return answer.status;
    };
    try {
      assert.equal(await post(gzipSync(JSON.stringify(CHAT)), 'gzip'), 200);
      assert.equal(await post(gzipSync(JSON.stringify({ ...CHAT, pad: 'x'.repeat(2 * MB) })), 'gzip'), 413);
      assert.equal(await post(Buffer.from('no gzip'), 'gzip'), 400);
      assert.equal(await post(Buffer.from('{}'), 'rot13'), 415);
    } finally {
      await small.close();
    }
  });

  test('many small bodies that decompress to large ones share one memory limit, and return it', async () => {
    const limits = { mostRequestBytes: 8 * MB, mostHeldBytes: 16 * MB };
    const small = await makeGateway({ settings: { mode: 'stub' }, limits });
    const body = (pad: number): Uint8Array<ArrayBuffer> =>
      new Uint8Array(gzipSync(JSON.stringify({ ...CHAT, pad: 'x'.repeat(pad) })));
    const post = async (bytes: Uint8Array<ArrayBuffer>): Promise<number> => {
      const headers = { authorization: `Bearer ${small.runKey}`, 'content-encoding': 'gzip' };
      const answer = await fetch(`${small.url}${chat}`, { method: 'POST', headers, body: bytes });
      await answer.text();
      return answer.status;
    };
    try {
      const large = body(7 * MB);
      assert.ok(large.length < 16 * 1024);
      const statuses = await Promise.all(Array.from({ length: 40 }, () => post(large)));
      assert.ok(statuses.includes(503), `some are refused: ${statuses}`);
      assert.deepEqual(
        statuses.filter((status) => status !== 200 && status !== 503),
        [],
      );
      for (let turn = 0; turn < 3; turn += 1) assert.equal(await post(large), 200, 'the memory is released');
    } finally {
      await small.close();
    }
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { asSvcError, type SvcError } from '../../../engine/core/base/errors.ts';
import { LARGEST_ANSWER_BYTES } from '../../../engine/core/link-protocol/messages.ts';
import { createServerCalls, nothing, type ServerCalls } from '../../../engine/link/server-calls.ts';
import { until } from '../../support/wait.ts';

const TOKEN = 'svcw_secret';

describe('calls to a linked server', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  function callsTo(port: number, token = TOKEN): ServerCalls {
    const calls = createServerCalls({ server: new URL(`http://127.0.0.1:${port}`), token: () => token });
    closers.push(() => calls.close());
    return calls;
  }
  /** A server with configurable answers, and calls to it. */
  async function serve(answer: RequestListener) {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { server, calls: callsTo((server.address() as AddressInfo).port) };
  }
  /** Serves these bytes to every client, then calls `andThen`. */
  async function serveBytes(bytes: string | Buffer, andThen: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    const server = createRawServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => socket.write(bytes, () => andThen(socket)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return callsTo((server.address() as AddressInfo).port);
  }
  const failureOf = async (calls: ServerCalls, waiting: { signal?: AbortSignal; patienceMs?: number } = {}) =>
    calls.call('/', { answer: nothing, ...waiting }).then(
      (answer) => assert.fail(`answered ${JSON.stringify(answer)}`),
      (error: unknown): SvcError => asSvcError(error),
    );
  const stay = (): void => undefined;

  it('a call reuses a connection, and opens another one where the server has closed it', async () => {
    const sockets: Socket[] = [];
    const { calls } = await serve(({ socket }, response) => {
      sockets.push(socket);
      response.end('{}');
    });
    for (let count = 0; count < 3; count += 1) await calls.call('/', { answer: nothing });
    const [socket] = sockets;
    assert.equal(new Set(sockets).size, 1);
    // The socket is closed once the peer has seen the end of this side.
    const closed = once(socket!, 'close');
    socket?.end();
    await closed;
    await calls.call('/', { answer: nothing });
    assert.equal(new Set(sockets).size, 2);
  });

  it('a closed client sends nothing, since its token may be of another server then', async () => {
    let asked = 0;
    const { calls } = await serve((_, response) => {
      asked += 1;
      response.end('{}');
    });
    await calls.call('/', { answer: nothing });
    const late = failureOf(calls);
    await calls.close();
    for (const { code, message } of [await late, await failureOf(calls)]) {
      assert.equal(code, 'server_unreachable');
      assert.match(message, /this link has ended/);
    }
    assert.equal(asked, 1);
  });

  it('three calls run at the same time, and others wait', async () => {
    const waiting: (() => void)[] = [];
    const { calls } = await serve((_request, response) => void waiting.push(() => response.end('{}')));
    const asked = Array.from({ length: 5 }, () => calls.call('/', { answer: nothing }));
    await until(() => waiting.length === 3, 'three requests');
    for (const each of waiting.splice(0)) each();
    await until(() => waiting.length === 2, 'the other two');
    for (const each of waiting) each();
    await Promise.all(asked);
  });

  it('a call follows no redirect, wherever it leads', async () => {
    const asked: (string | undefined)[] = [];
    const { server, calls } = await serve((request, response) => {
      asked.push(request.url);
      const { port } = server.address() as AddressInfo;
      response.writeHead(Number(request.url?.slice(1)), { location: `http://127.0.0.1:${port}/thief` }).end();
    });
    for (const status of [301, 302, 303, 307, 308])
      await assert.rejects(calls.call(`/${status}`, { answer: nothing }), {
        code: 'server_unreachable',
        message: /redirects, and redirects are not followed$/,
      });
    assert.ok(!asked.includes('/thief'));
  });

  it('a call reads 64 KB and no more, even where less came over the wire', async () => {
    const sent: Record<string, Buffer> = {
      '/fits': Buffer.from(JSON.stringify('x'.repeat(LARGEST_ANSWER_BYTES - 2))),
      '/more': Buffer.alloc(LARGEST_ANSWER_BYTES + 1, ' '),
      '/bomb': gzipSync(Buffer.alloc(32 * 1024 * 1024, ' ')),
    };
    const accepted: unknown[] = [];
    const { calls } = await serve((request, response) => {
      accepted.push(request.headers['accept-encoding']);
      if (request.url === '/bomb') response.setHeader('content-encoding', 'gzip');
      response.end(sent[request.url ?? '']);
    });
    assert.equal(String(await calls.call('/fits', { answer: nothing })).length, LARGEST_ANSWER_BYTES - 2);
    for (const path of ['/more', '/bomb'])
      await assert.rejects(calls.call(path, { answer: z.string() }), { code: 'server_unreachable' }, path);
    assert.deepEqual(new Set(accepted), new Set(['identity']));
    // An answer without an end.
    const endless = await serveBytes('HTTP/1.1 200 OK\r\n\r\n', function pour(socket): void {
      socket.write(Buffer.alloc(LARGEST_ANSWER_BYTES), () => !socket.destroyed && pour(socket));
    });
    assert.match((await failureOf(endless)).message, /answered with more than 64 KB$/);
  });

  it('a call waits within its limit for an answer and for the rest of one', async () => {
    for (const begun of [
      '',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{',
      'HTTP/1.1 100 Continue\r\n\r\n',
    ]) {
      const calls = await serveBytes(begun, stay);
      const { code, message } = await failureOf(calls, { patienceMs: 100 });
      assert.equal(code, 'server_unreachable');
      assert.match(message, /no answer within 0\.1 s$/);
    }
  });

  it('a call ends when cancelled, before, during and after an answer', async () => {
    const ending = new AbortController();
    const { signal } = ending;
    const calls = await Promise.all([
      serveBytes('', stay),
      serveBytes('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', stay),
    ]);
    const ended = calls.map((each) =>
      assert.rejects(each.call('/', { answer: nothing, signal }), { name: 'AbortError' }),
    );
    setImmediate(() => ending.abort());
    await Promise.all(ended);
    for (const each of calls)
      await assert.rejects(each.call('/', { answer: nothing, signal }), { name: 'AbortError' });
  });

  it('a call reports when to retry, where the server gave a number of seconds', async () => {
    let said = '';
    const { calls } = await serve(
      (_request, response) => void response.writeHead(503, { 'retry-after': said }).end(),
    );
    for (const [text, ms] of [
      ['7', 7000],
      ['999999', 3600_000],
      ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
      ['-1', undefined],
    ] as const) {
      said = text;
      assert.equal((await failureOf(calls)).data.retry_after_ms, ms, text);
    }
  });

  it('a call names the fault of a malformed answer, and continues', async () => {
    const cases: [string, (socket: Socket) => void, RegExp][] = [
      ['SSH-2.0-OpenSSH\r\n', stay, /HPE_INVALID_CONSTANT$/],
      [
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        stay,
        /the connection was closed$/,
      ],
      ['', (socket) => void socket.end(), /ECONNRESET$/],
      ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', (socket) => void socket.end(), /ECONNRESET$/],
      [
        'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{',
        (socket) => void socket.resetAndDestroy(),
        /ECONNRESET$/,
      ],
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', stay, /ECONNRESET$/],
      [`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`, stay, /HPE_HEADER_OVERFLOW$/],
    ];
    for (const [bytes, andThen, expected] of cases) {
      const { code, message } = await failureOf(await serveBytes(bytes, andThen));
      assert.equal(code, 'server_unreachable');
      assert.match(message, expected, bytes.slice(0, 40));
    }
    assert.match((await failureOf(callsTo(1))).message, /ECONNREFUSED$/);
    const { message } = await failureOf(callsTo(1, `${TOKEN}\nx`));
    assert.match(message, /ERR_INVALID_CHAR$/, 'an edited token file');
  });
});

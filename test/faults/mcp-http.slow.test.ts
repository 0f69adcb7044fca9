import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../engine/index.ts';
import { httpClient, mcpEndpoint } from '../support/agents/mcp.ts';
import { envelope } from '../support/agents/mcp-raw.ts';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

/** Resident memory of a process, bytes. */
async function readMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Of 100 subscriptions each. */
const ROUNDS = Number(process.env.SVC_TEST_LISTENS ?? 1000) / 100;
const CHANGES = 3000;

describe('/mcp under misbehaving clients', { timeout: 200_000 }, () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  before(async () => {
    ws = await makeWorkspace();
    client = await ws.connect();
  });
  after(() => ws.close());

  const headers = (more: Record<string, string> = {}) => ({
    authorization: `Bearer ${mcpEndpoint(ws).token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  });
  async function sent(
    method: string,
    body?: string,
    more: Record<string, string> = {},
  ): Promise<{ status: number; session: string | null; text: string }> {
    const response = await fetch(mcpEndpoint(ws).url, {
      method,
      headers: headers(more),
      ...(body === undefined ? {} : { body }),
    });
    const session = response.headers.get('mcp-session-id');
    return { status: response.status, session, text: await response.text() };
  }
  const chairs = async (): Promise<number> =>
    (await client.call('msg.peers', {})).peers.filter(({ seat }) => seat === 'chair').length;

  test('a request that starts no session gets no seat', async () => {
    const seats = await chairs();
    const bodies = ['', '{', 'null', '1', '"x"', '[]', '[[]]', '{}', JSON.stringify(LIST)];
    bodies.push(JSON.stringify([LIST, LIST]), JSON.stringify([INITIALIZE, LIST]));
    bodies.push(JSON.stringify({ ...INITIALIZE, params: {} }), '['.repeat(100_000));
    const tried = [
      ...bodies.map((body) => ['POST', body] as const),
      ...['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'].map((method) => [method, undefined] as const),
    ];
    for (const [method, body] of tried) {
      const { status } = await sent(method, body);
      assert.ok(status >= 400 && status < 500, `${method} ${body?.slice(0, 40)}: ${status}`);
    }
    assert.equal((await sent('PUT')).status, 405);
    assert.equal(await chairs(), seats);
    report(`${tried.length} requests that begin nothing`, 'each was refused, and no seat was taken');
  });

  test('a body without an end is refused, before a session and in one', async () => {
    const { session } = await sent('POST', JSON.stringify(INITIALIZE));
    const large = JSON.stringify({ ...LIST, params: { _meta: { x: 'x'.repeat(17 * 1024 * 1024) } } });
    assert.equal((await sent('POST', large, { 'mcp-session-id': session ?? '' })).status, 413);
    const { url, token } = mcpEndpoint(ws);
    const socket = connectSocket(Number(url.port), url.hostname);
    const head = ['POST /mcp HTTP/1.1', `host: ${url.host}`, `authorization: Bearer ${token}`];
    socket.write(`${[...head, 'transfer-encoding: chunked'].join('\r\n')}\r\n\r\n`);
    let answer = '';
    let isOver = false;
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket
      .on('error', () => undefined)
      .on('close', () => {
        isOver = true;
      });
    const part = 'x'.repeat(64 * 1024);
    await until(() => {
      if (!isOver) socket.write(`10000\r\n${part}\r\n`);
      return isOver;
    });
    assert.match(answer, /^HTTP\/1\.1 413/);
    assert.equal((await sent('DELETE', undefined, { 'mcp-session-id': session ?? '' })).status, 200);
  });

  test('a flood of clients that leave without a word neither blocks the next nor fills the register', async () => {
    for (let round = 0; round < 5; round += 1) {
      const all = await Promise.all(
        Array.from({ length: 64 }, () => sent('POST', JSON.stringify(INITIALIZE))),
      );
      for (const { status } of all) assert.equal(status, 200);
    }
    await until(async () => (await chairs()) <= 256 + 1);
    const web = await httpClient(ws);
    assert.ok((await web.tools()).length > 0);
    await web.close();
    report('320 clients that began and left', 'at most 256 seats, and the next one was served');
  });

  test('the end of a session is the end of its seat, its questions and its locks', async () => {
    const web = await httpClient(ws, { headers: { 'x-svc-session': 'by-web' }, mode: 'legacy' });
    await web.call('lock_acquire', { holder: 'by-web', path: 'src' });
    const stop = new AbortController();
    const asked = web.call(
      'ask',
      { question: 'anybody?', timeout_sec: 600 },
      { signal: stop.signal, onprogress: () => stop.abort('enough') },
    );
    await assert.rejects(asked);
    await (web.client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    const { locks } = await client.call('lock.status', {});
    assert.deepEqual(locks, []);
    const { asks } = await client.call('ask.list', { status: 'all' });
    assert.equal(asks.find(({ from_session }) => from_session === 'by-web')?.status, 'timeout');
    await web.close();
  });

  test('a flood of subscriptions is limited, and one that never reads costs no memory', async () => {
    const { task_id: id } = await client.call('task.add', { title: 'followed' });
    const uri = `svc://task/${id}`;
    const { url, token } = mcpEndpoint(ws);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: [uri] }, _meta: envelope() },
    });
    const head = [
      'POST /mcp HTTP/1.1',
      `host: ${url.host}`,
      `authorization: Bearer ${token}`,
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      'mcp-protocol-version: 2026-07-28',
      'mcp-method: subscriptions/listen',
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    const request = `${head.join('\r\n')}\r\n\r\n${body}`;
    const silent = connectSocket(Number(url.port), url.hostname).pause();
    silent.on('error', () => undefined).write(request);
    // Each answer is either a stream, whose end ends its connection, or a refusal.
    let served = 0;
    let refused = 0;
    for (let round = 0; round < ROUNDS; round += 1)
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const {
            status,
            headers: answered,
            body: stream,
          } = await fetch(url, {
            method: 'POST',
            headers: Object.fromEntries(
              head.slice(2, -1).map((line) => line.split(': ', 2) as [string, string]),
            ),
            body,
          });
          if (answered.get('content-type') === 'text/event-stream') served += 1;
          else refused += 1;
          assert.equal(status, 200);
          await stream?.cancel();
        }),
      );
    assert.equal(served + refused, ROUNDS * 100);
    const before = await readMemory(ws.daemonPid() ?? 0);
    for (let change = 0; change < CHANGES; change += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          client.call('task.assign', { id, agent: at % 2 === 0 ? 'scripted' : 'claude' }),
        ),
      );
    const grown = (await readMemory(ws.daemonPid() ?? 0)) - before;
    assert.ok(grown < 64 * 1024 ** 2, `${grown} bytes`);
    silent.destroy();
    const web = await httpClient(ws);
    assert.ok((await web.tools()).length > 0);
    await web.close();
    report(
      `${ROUNDS * 100} subscriptions, and one that does not read ${CHANGES} notifications`,
      `${served} were served, ${refused} refused; ${Math.round(grown / 1024)} KiB more memory`,
    );
  });

  test('open streams and waiting calls do not delay the end of the engine', async () => {
    const web = await httpClient(ws);
    let told = (): void => undefined;
    const waits = new Promise<void>((resolve) => {
      told = resolve;
    });
    const asked = web.call('ask', { question: 'now?', timeout_sec: 600 }, { onprogress: () => told() });
    asked.catch(() => undefined);
    await waits;
    const pid = ws.daemonPid();
    assert.equal((await ws.svc(['down'])).code, 0);
    await until(() => !isRunning(pid as number));
    await web.close();
  });
});

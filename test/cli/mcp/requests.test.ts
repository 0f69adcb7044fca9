import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { stdioClient } from '../../support/agents/mcp.ts';
import {
  askRaw,
  envelope,
  postRequest,
  type RawMessage,
  readStream,
  sendAndLeave,
  TASKS,
  taskEnvelope,
} from '../../support/agents/mcp-raw.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const SERVER = 'io.modelcontextprotocol/serverInfo';

let ws: TestWorkspace;
let client: EngineClient;
before(async () => {
  ws = await makeWorkspace();
  client = await ws.connect();
});
after(() => ws.close());

const callTool = (name: string, input: object, more: { id?: number; meta?: Record<string, unknown> } = {}) =>
  askRaw(ws, { method: 'tools/call', params: { name, arguments: input }, ...more });

const textOf = (result: unknown): string =>
  (result as { content?: { text: string }[] } | undefined)?.content?.[0]?.text ?? '';

const countTasks = async (title: string): Promise<number> =>
  (await client.call('task.list', { limit: 1000 })).tasks.filter((task) => task.title === title).length;

describe('a request without a session', () => {
  test('every result names its type and the server, and lists say how long they are fresh', async () => {
    for (const [method, params] of [
      ['server/discover', {}],
      ['tools/list', {}],
      ['resources/list', {}],
      ['resources/templates/list', {}],
    ] as const) {
      const { status, result } = await askRaw(ws, { method, params });
      assert.equal(status, 200);
      assert.equal(result?.resultType, 'complete', method);
      assert.equal((result?._meta as Record<string, { name: string }> | undefined)?.[SERVER]?.name, 'svc');
      assert.equal(result?.ttlMs, 300_000, method);
      assert.equal(result?.cacheScope, 'private', method);
    }
    const { result } = await callTool('task_list', {});
    assert.equal(result?.resultType, 'complete');
  });

  test('a request gets no session id, and one that names a session is served alone', async () => {
    const response = await postRequest(ws, { method: 'tools/list', headers: { 'mcp-session-id': 'gone' } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('mcp-session-id'), null);
    await response.text();
  });

  test('an unknown version is answered with the known ones', async () => {
    const meta = envelope({ 'io.modelcontextprotocol/protocolVersion': '2199-01-01' });
    const headers = { 'mcp-protocol-version': '2199-01-01' };
    const { status, error } = await askRaw(ws, { method: 'tools/list', meta, headers });
    assert.deepEqual([status, error?.code], [400, -32022]);
    assert.deepEqual(error?.data, { supported: ['2026-07-28'], requested: '2199-01-01' });
  });

  test('a missing or wrong envelope is refused', async () => {
    const wrong: (Record<string, unknown> | undefined)[] = [
      {},
      { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
      envelope({ 'io.modelcontextprotocol/clientCapabilities': 'all' }),
      envelope({ 'io.modelcontextprotocol/protocolVersion': 20260728 }),
    ];
    for (const meta of wrong) {
      const { status, error } = await askRaw(ws, { method: 'tools/list', meta });
      assert.deepEqual([status, error?.code], [400, -32602], JSON.stringify(meta));
    }
  });

  test('headers that contradict the body are refused, and nothing is done', async () => {
    const params = { name: 'task_add', arguments: { title: 'contradicted' } };
    for (const headers of [
      { 'mcp-name': 'task_list' },
      { 'mcp-method': 'tools/list' },
      { 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-name': '=?base64?!!?=' },
    ]) {
      const { status, error } = await askRaw(ws, { method: 'tools/call', params, headers });
      assert.deepEqual([status, error?.code], [400, -32020], JSON.stringify(headers));
    }
    assert.equal(await countTasks('contradicted'), 0);
  });

  test('methods of earlier revisions are unknown', async () => {
    for (const method of ['ping', 'resources/subscribe', 'logging/setLevel', 'tasks/list', 'tasks/result']) {
      const { status, error } = await askRaw(ws, { method, params: { uri: 'svc://inbox/chair' } });
      assert.deepEqual([status, error?.code], [404, -32601], method);
    }
  });

  test('all requests of one process are from one seat', async () => {
    const sessions = new Set<unknown>();
    for (let round = 0; round < 3; round += 1) {
      const { result } = await callTool('msg_inbox', {});
      sessions.add(textOf(result).split(':')[0]);
    }
    assert.equal(sessions.size, 1);
  });

  test('a call that a client traces is logged with its trace', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const traced = (traceparent: string) => callTool('task_list', {}, { meta: envelope({ traceparent }) });
    await traced(`00-${trace}-b7ad6b7169203331-01`);
    await traced('00-nonsense-01');
    const folder = join(ws.root, '.svc', 'log');
    const readLines = (): Record<string, unknown>[] =>
      readdirSync(folder)
        .filter((name) => name.startsWith('engine.'))
        .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
        .map((line) => JSON.parse(line));
    const lines = await until(() => {
      const found = readLines().filter(({ trace_id }) => trace_id !== undefined);
      return found.length > 0 && found;
    });
    assert.deepEqual(
      lines.map(({ trace_id, span_id, tool }) => [trace_id, span_id, tool]),
      [[trace, 'b7ad6b7169203331', 'task_list']],
    );
  });
});

describe('a repeated call', () => {
  test('a call whose answer was lost changes nothing twice, under any id', async () => {
    const params = { name: 'task_add', arguments: { title: 'lost' } };
    for (const id of [7, 8]) await sendAndLeave(ws, { id, method: 'tools/call', params });
    await callTool('task_add', { title: 'lost' }, { id: 9 });
    assert.equal(await countTasks('lost'), 1);
  });

  test('a replayed request changes nothing twice, and another request with the same content does', async () => {
    const first = await callTool('task_add', { title: 'replayed' }, { id: 11 });
    const replayed = await callTool('task_add', { title: 'replayed' }, { id: 11 });
    assert.equal(textOf(replayed.result), textOf(first.result));
    assert.equal(await countTasks('replayed'), 1);
    await callTool('task_add', { title: 'replayed' }, { id: 12 });
    assert.equal(await countTasks('replayed'), 2);
    // A new client of the same process counts its ids from the start.
    await askRaw(ws, { method: 'server/discover' });
    await callTool('task_add', { title: 'replayed' }, { id: 12 });
    assert.equal(await countTasks('replayed'), 3);
  });

  test('equal calls at the same time are different calls', async () => {
    await Promise.all(
      Array.from({ length: 5 }, (_, at) => callTool('task_add', { title: 'at once' }, { id: 20 + at })),
    );
    assert.equal(await countTasks('at once'), 5);
  });
});

describe('a call that waits', () => {
  const ask = (question: string, meta = taskEnvelope()) =>
    callTool('ask', { question, timeout_sec: 600 }, { meta });
  const getTask = (taskId: unknown, meta = taskEnvelope()) =>
    askRaw(ws, { method: 'tasks/get', params: { taskId }, meta });
  const findAsk = async (question: string) =>
    (await client.call('ask.list', { status: 'all' })).asks.find((each) => each.question === question);

  test('a client that declares the extension gets a handle, and the result under it', async () => {
    const { result } = await ask('with a handle?');
    assert.deepEqual([result?.resultType, result?.status], ['task', 'working']);
    const { id = 0 } = (await findAsk('with a handle?')) ?? {};
    const waiting = await getTask(result?.taskId);
    assert.deepEqual([waiting.result?.resultType, waiting.result?.status], ['complete', 'working']);
    assert.match(String(waiting.result?.statusMessage), /waits for an answer/);
    await client.call('ask.answer', { id, answer: 'yes' });
    const ended = await until(async () => {
      const { result: state } = await getTask(result?.taskId);
      return state?.status === 'completed' && state;
    });
    assert.match(textOf(ended.result), /yes/);
    assert.equal(typeof ended.ttlMs, 'number');
  });

  test('a client without the extension waits in its stream, and may not ask for handles', async () => {
    const waiting = ask('without a handle?', envelope({ progressToken: 1 }));
    const { id = 0 } = await until(() => findAsk('without a handle?'));
    await client.call('ask.answer', { id, answer: 'no' });
    const { result } = await waiting;
    assert.equal(result?.resultType, 'complete');
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await askRaw(ws, { method, params: { taskId: 'x' } });
      assert.equal(error?.code, -32021, method);
      assert.deepEqual(error?.data, { requiredCapabilities: { extensions: { [TASKS]: {} } } });
    }
  });

  test('a cancelled handle ends the wait and withdraws the question', async () => {
    const { result } = await ask('withdrawn?');
    const cancelled = await askRaw(ws, {
      method: 'tasks/cancel',
      params: { taskId: result?.taskId },
      meta: taskEnvelope(),
    });
    assert.deepEqual(Object.keys(cancelled.result ?? {}).sort(), ['_meta', 'resultType']);
    assert.equal((await getTask(result?.taskId)).result?.status, 'cancelled');
    assert.equal((await findAsk('withdrawn?'))?.status, 'timeout');
  });

  test('a handle is known to its caller only', async () => {
    const { result } = await ask('whose?');
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await askRaw(ws, {
        method,
        params: { taskId: result?.taskId },
        meta: taskEnvelope(),
        headers: { 'x-svc-session': 'other' },
      });
      assert.deepEqual([error?.code, error?.message], [-32602, `no task ${JSON.stringify(result?.taskId)}`]);
    }
    assert.equal((await getTask(result?.taskId)).result?.status, 'working');
  });

  test('a handle outlives the engine, and its end is announced to a new subscription', async () => {
    const { result } = await ask('after a restart?');
    const { id = 0 } = (await findAsk('after a restart?')) ?? {};
    await ws.killDaemon();
    client = await ws.connect();
    const stream = readStream(
      await postRequest(ws, {
        method: 'subscriptions/listen',
        params: { notifications: { taskIds: [result?.taskId, 'unknown'] } },
        meta: taskEnvelope(),
      }),
    );
    await until(() => stream.messages.length > 0);
    assert.deepEqual(stream.messages[0]?.params?.notifications, { taskIds: [result?.taskId] });
    await client.call('ask.answer', { id, answer: 'still here' });
    const told = await until(() =>
      stream.messages.find(({ method }: RawMessage) => method === 'notifications/tasks'),
    );
    assert.deepEqual([told.params?.taskId, told.params?.status], [result?.taskId, 'completed']);
    stream.stop();
    const { error } = await askRaw(ws, {
      method: 'subscriptions/listen',
      params: { notifications: { taskIds: [result?.taskId] } },
    });
    assert.equal(error?.code, -32021);
  });
});

describe('a subscription', () => {
  const listen = async (notifications: object) =>
    readStream(await postRequest(ws, { method: 'subscriptions/listen', params: { notifications } }));

  test('a subscription begins with what it includes, and names its request in each message', async () => {
    const { id } = await client
      .call('task.add', { title: 'followed' })
      .then(({ task_id }) => ({ id: task_id }));
    const uri = `svc://task/${id}`;
    const stream = await listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: [uri, 'svc://task/t-9999', 'file:///etc/passwd'],
    });
    await until(() => stream.messages.length > 0);
    const [first] = stream.messages;
    assert.equal(first?.method, 'notifications/subscriptions/acknowledged');
    assert.deepEqual(first?.params?.notifications, { toolsListChanged: true, resourceSubscriptions: [uri] });
    await client.call('task.assign', { id, agent: 'scripted' });
    const updated = await until(() => stream.messages[1]);
    assert.deepEqual([updated.method, updated.params?.uri], ['notifications/resources/updated', uri]);
    for (const { params } of stream.messages)
      assert.deepEqual(params?._meta, { 'io.modelcontextprotocol/subscriptionId': 1 });
    stream.stop();
  });

  test('a change of svc.yaml that changes the tools is announced to both eras', async () => {
    const stream = await listen({ toolsListChanged: true });
    const before = await stdioClient(ws, { mode: 'legacy' });
    let told = 0;
    before.client.setNotificationHandler('notifications/tools/list_changed', () => {
      told += 1;
    });
    await until(() => stream.messages.length > 0);
    const count = (await before.tools()).length;
    const file = join(ws.root, 'svc.yaml');
    writeFileSync(file, `${readFileSync(file, 'utf8')}context: { guidance: { mcp_tools: false } }\n`);
    ws.agree();
    await client.call('engine.reload', {});
    await until(
      () => told > 0 && stream.messages.some(({ method }) => method === 'notifications/tools/list_changed'),
    );
    assert.ok((await before.tools()).length < count);
    stream.stop();
    await before.close();
  });

  test('one caller may have 64 subscriptions, and ended ones make room', async () => {
    const open: { stop(): void; messages: RawMessage[] }[] = [];
    for (let at = 0; at < 70; at += 1) open.push(await listen({ toolsListChanged: true }));
    await until(() => open.every(({ messages }) => messages.length > 0));
    const refused = open.filter(({ messages }) => messages[0]?.error !== undefined);
    const served = open.length - refused.length;
    assert.ok(served <= 64, `${served}`);
    for (const { stop } of open) stop();
    await until(async () => {
      const stream = await listen({ toolsListChanged: true });
      await until(() => stream.messages.length > 0);
      stream.stop();
      return stream.messages[0]?.error === undefined;
    });
  });
});

import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { after, afterEach, before, describe, mock, test } from 'node:test';
import Database from 'better-sqlite3';
import { createFollowing } from '../../../cli/following.ts';
import type { StartCondition } from '../../../cli/kept-calls.ts';
import { createEngineLink } from '../../../cli/link.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';
import type { EngineClient } from '../../../engine/index.ts';
import { stdioClient } from '../../support/agents/mcp.ts';
import { until } from '../../support/wait.ts';
import { isRunning, makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Message {
  id?: number | string | null;
  method?: string;
  params?: { uri?: string };
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

interface Bridge {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  messages: Message[];
  stderr: () => string;
  send(message: object): void;
  /** Resolves with the answer to the request. */
  answer(id: number): Promise<Message>;
  exit: Promise<number | null>;
}

/** A failed test must not leave its bridge behind: the file would not end. */
const begunHere = new Set<Bridge['child']>();
afterEach(() => {
  for (const child of begunHere) child.kill('SIGKILL');
});

/** Runs `svc mcp` without an MCP client; the test writes its input. */
function bridge(ws: TestWorkspace, env: Record<string, string> = {}): Bridge {
  const child = spawn(process.execPath, [SVC, 'mcp'], {
    cwd: ws.root,
    env: { ...ws.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  begunHere.add(child);
  child.once('exit', () => begunHere.delete(child));
  const messages: Message[] = [];
  let rest = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    messages.push(...lines.map((line) => JSON.parse(line) as Message));
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  child.stdin.on('error', () => undefined);
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  return {
    child,
    messages,
    stderr: () => errors,
    send: (message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    answer: (id) => until(() => messages.find((each) => each.id === id), `the answer to ${id}`),
    exit,
  };
}

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

async function begun(ws: TestWorkspace, env: Record<string, string> = {}): Promise<Bridge> {
  const open = bridge(ws, env);
  open.send(INITIALIZE);
  await open.answer(1);
  open.send({ method: 'notifications/initialized' });
  return open;
}

const refusalIn = ({ result }: Message) =>
  (result as { structuredContent: { code: string; message: string } }).structuredContent;

const asks = (id: number) => ({
  id,
  method: 'tools/call',
  params: {
    name: 'ask',
    arguments: { question: `question ${id}?`, timeout_sec: 600 },
    _meta: { progressToken: id },
  },
});
const isWaiting = (open: Bridge): Promise<true> =>
  until(() => open.messages.some(({ method }) => method === 'notifications/progress') as true);

describe('svc mcp', { timeout: 120_000 }, () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
  });
  after(() => ws.close());

  test('svc mcp continues after a malformed message', async () => {
    const open = bridge(ws);
    for (const line of ['garbage', '{', '[]', 'null', '{"jsonrpc":"2.0"}', '\u0000\u0001', '{"id":{}}', ''])
      open.child.stdin.write(`${line}\n`);
    open.send(INITIALIZE);
    assert.ok((await open.answer(1)).result);
    open.child.stdin.end();
    assert.equal(await open.exit, 0);
  });

  test('svc mcp answers a malformed message as JSON-RPC requires, and all others as before', async () => {
    const open = bridge(ws);
    const wrong: [line: string, code: number, id: number | string | null][] = [
      ['garbage', -32700, null],
      ['{', -32700, null],
      ['[]', -32600, null],
      ['[{"jsonrpc":"2.0","id":9,"method":"ping"}]', -32600, null],
      ['null', -32600, null],
      ['{"jsonrpc":"2.0"}', -32600, null],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
      ['{"jsonrpc":"1.0","id":"x","method":"ping"}', -32600, 'x'],
      ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', -32600, 7],
      ['{"jsonrpc":"2.0","id":7.5,"method":"ping"}', -32600, null],
    ];
    for (const [line] of wrong) open.child.stdin.write(`${line}\n`);
    // Notifications and malformed responses are never answered.
    for (const line of [
      '{"jsonrpc":"2.0","id":5,"result":7}',
      '{"jsonrpc":"2.0","method":"notifications/x"}',
    ])
      open.child.stdin.write(`${line}\n`);
    open.send(INITIALIZE);
    assert.ok((await open.answer(1)).result);
    assert.deepEqual(
      open.messages.slice(0, -1).map(({ id, error }) => [error?.code, id]),
      wrong.map(([, code, id]) => [code, id]),
    );
    open.child.stdin.end();
    assert.equal(await open.exit, 0);
  });

  test('svc mcp answers everything that was sent before the end of its input, even without a final line end', async () => {
    const calls = [2, 3, 4].map((id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'task_add', arguments: { title: `number ${id}` } },
    }));
    const open = bridge(ws);
    open.child.stdin.end(
      [{ jsonrpc: '2.0', ...INITIALIZE }, ...calls].map((each) => JSON.stringify(each)).join('\n'),
    );
    assert.equal(await open.exit, 0);
    assert.deepEqual(open.messages.map(({ id, result }) => [id, result?.isError]).sort(), [
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [4, undefined],
    ]);
  });

  test('a subscription to a resource survives restarts: no update is missed or repeated', async () => {
    const other = await makeWorkspace();
    try {
      const open = await begun(other);
      open.send({
        id: 2,
        method: 'tools/call',
        params: { name: 'task_add', arguments: { title: 'one', agent: 'claude' } },
      });
      await open.answer(2);
      for (const [id, uri] of [
        [3, 'svc://task/t-1'],
        [4, 'svc://inbox/chair'],
      ] as const) {
        open.send({ id, method: 'resources/subscribe', params: { uri } });
        assert.ok((await open.answer(id)).result);
      }
      const told = (uri: string) =>
        open.messages.filter(
          ({ method, params }) => method === 'notifications/resources/updated' && params?.uri === uri,
        ).length;
      for (let round = 1; round <= 3; round += 1) {
        if (round === 2) {
          await other.svc(['down']);
          await other.svc(['up']);
        } else await other.killDaemon();
        // Another client may start it, perhaps before the bridge reconnects.
        const client = await other.connect();
        await client.call('msg.send', { body: `round ${round}`, to_session: 'chair' });
        await client.call('task.assign', { id: 't-1', agent: round % 2 === 0 ? 'claude' : 'codex' });
        client.close();
        await until(() => told('svc://task/t-1') === round && told('svc://inbox/chair') === round);
        open.send({ id: 10 + round, method: 'tools/call', params: { name: 'task_list', arguments: {} } });
        assert.ok((await open.answer(10 + round)).result?.isError === undefined);
        assert.deepEqual([told('svc://task/t-1'), told('svc://inbox/chair')], [round, round]);
      }
      open.child.stdin.end();
      assert.equal(await open.exit, 0);
    } finally {
      await other.close();
    }
  });

  test('svc mcp ends after an oversized message, and says so', async () => {
    const open = await begun(ws);
    const part = 'x'.repeat(1024 * 1024);
    for (let written = 0; written < 20 && open.child.exitCode === null; written += 1)
      open.child.stdin.write(part);
    assert.equal(await open.exit, 0);
    assert.match(open.stderr(), /at most 16 MiB/);
  });

  test('svc mcp ends with its client in the middle of a call; the question stays open', async () => {
    const enders: ((open: Bridge) => void)[] = [
      (open) => open.child.stdin.end(),
      (open) => open.child.kill('SIGTERM'),
      (open) => open.child.kill('SIGINT'),
      (open) => open.child.stdout.destroy(),
    ];
    for (const [at, end] of enders.entries()) {
      const open = await begun(ws, { SVC_SESSION: `ends-${at}` });
      open.send(asks(2));
      await isWaiting(open);
      end(open);
      // Only a write reveals that the other end of stdout is gone.
      if (at === 3) open.send({ id: 3, method: 'tools/list' });
      await open.exit;
      assert.ok(!isRunning(open.child.pid as number));
    }
  });

  test('svc mcp leaves the locks of another session with its name', async () => {
    const named = { env: { SVC_SESSION: 'pair' } };
    const one = await stdioClient(ws, named);
    const other = await stdioClient(ws, named);
    await one.call('lock_acquire', { holder: 'pair', path: 'src' });
    await other.call('task_list');
    await other.close();
    await until(() => other.pid === null || !isRunning(other.pid));
    const held = await one.call('lock_check', { holder: 'pair', path: 'src/a.ts' });
    assert.equal(held.covered_by, 'src');
    await one.close();
    await until(async () => (await ws.svc(['lock', 'list', '--json'])).json<unknown[]>().length === 0);
  });

  test('svc mcp says why there is no engine, each time it is called, and ends', async () => {
    const other = await makeWorkspace();
    // Before the bridge starts, because it connects to an engine immediately and starts one.
    writeFileSync(join(other.root, 'svc.yaml'), 'daemon: { reap_interval_sec: often }\n');
    const open = await begun(other);
    for (const id of [2, 3]) {
      open.send({ id, method: 'tools/call', params: { name: 'task_list', arguments: {} } });
      const { code, message } = refusalIn(await open.answer(id));
      assert.equal(code, 'config_invalid');
      assert.match(message, /reap_interval_sec/);
    }
    open.send({ id: 4, method: 'tools/list' });
    assert.match((await open.answer(4)).error?.message ?? '', /reap_interval_sec/);
    open.child.stdin.end();
    assert.equal(await open.exit, 0);
    await other.close();
  });

  test('svc mcp refuses the database of a newer version by name', async (t) => {
    const other = await makeWorkspace();
    t.after(() => other.close());
    await other.svc(['up']);
    await other.svc(['down']);
    const db = new Database(join(other.root, '.svc', 'svc.db'));
    db.pragma('user_version = 999');
    db.close();
    const open = await begun(other);
    t.after(() => void open.child.kill());
    open.send({ id: 2, method: 'tools/call', params: { name: 'task_list', arguments: {} } });
    assert.equal(refusalIn(await open.answer(2)).code, 'storage_newer');
    open.child.stdin.end();
    assert.equal(await open.exit, 0);
  });

  test('svc mcp restarts a killed engine for a waiting call, and leaves a stopped one alone', async () => {
    const other = await makeWorkspace();
    const asker = await stdioClient(other, { env: { SVC_SESSION: 'asker' } });
    let told = (): void => undefined;
    const waits = new Promise<void>((resolve) => {
      told = resolve;
    });
    const answer = asker.call('ask', { question: 'which?', timeout_sec: 600 }, { onprogress: () => told() });
    await waits;
    const first = other.daemonPid();
    await other.killDaemon();
    await until(() => other.daemonPid() !== first && other.daemonPid() !== null);
    assert.equal((await other.svc(['down'])).code, 0);
    // Only an engine that a person starts is available again.
    assert.equal(other.daemonPid(), null);
    const client = await other.connect();
    await client.call('ask.answer', { id: 1, answer: 'this' });
    assert.equal((await answer).answer, 'this');
    await asker.close();
    await other.close();
  });
});

/** A connection whose calls the test ends. */
function fakeClient(run: (operation: string) => Promise<unknown>): {
  client: EngineClient;
  lose(): void;
} {
  let lose = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    lose = resolve;
  });
  const client = {
    welcome: { session_id: 'chair-1' },
    run,
    call: async () => ({}),
    subscribe: async () => ({ subscription: 1, log_id: 'x', from: 0 }),
    closed,
    close: () => undefined,
  } as unknown as EngineClient;
  return { client, lose };
}

const unreachable = () => new SvcError('engine_unreachable', 'the connection to the engine ended');
const quiet = { key: 'k', signal: new AbortController().signal, onProgress: () => undefined };

describe('the link of a bridge', () => {
  test('the patience of the link starts when the engine is lost, however long the call has waited before', async () => {
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
    try {
      const starts: StartCondition[] = [];
      let fail: (error: Error) => void = () => undefined;
      const first = fakeClient(
        () =>
          new Promise((_, reject) => {
            fail = reject;
          }),
      );
      const second = fakeClient(async () => 'answered');
      const link = createEngineLink(async (start) => {
        starts.push(start);
        return starts.length === 1 ? first.client : second.client;
      });
      const answer = link.call('ask', { question: 'Go on?' }, quiet);
      while (starts.length === 0) await Promise.resolve();
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      mock.timers.tick(10 * 60_000);
      first.lose();
      fail(unreachable());
      for (let turn = 0; turn < 50; turn += 1) {
        await Promise.resolve();
        mock.timers.tick(100);
      }
      assert.equal(await answer, 'answered');
      assert.deepEqual(starts, ['new_call', 'after_crash']);
    } finally {
      mock.timers.reset();
    }
  });

  test('the link starts an engine for a new call only, and gives up a call that will never be answered', async () => {
    const starts: StartCondition[] = [];
    const gone = fakeClient(() => Promise.reject(unreachable()));
    const link = createEngineLink(
      async (start) => {
        starts.push(start);
        if (starts.length > 1) throw new SvcError('engine_not_running', 'no engine is running for /x');
        return gone.client;
      },
      { patienceMs: 300 },
    );
    const given = link.call('task.run', { id: 't-1' }, quiet);
    gone.lose();
    await assert.rejects(given, { code: 'engine_not_running', message: /while this call waited/ });
    assert.deepEqual([...new Set(starts.slice(1))], ['after_crash']);
    const before = starts.length;
    await assert.rejects(link.call('task.list', {}, quiet), { code: 'engine_not_running' });
    assert.deepEqual(starts.slice(before), ['new_call'], 'notified immediately, after one attempt');
    await link.close();
  });

  test('a call that is cancelled while there is no engine ends', async () => {
    const stop = new AbortController();
    let tries = 0;
    const gone = fakeClient(() => Promise.reject(unreachable()));
    const link = createEngineLink(async () => {
      tries += 1;
      if (tries === 3) stop.abort();
      if (tries > 1) throw new SvcError('engine_not_running', 'no engine is running for /x');
      return gone.client;
    });
    const given = link.call('ask', { question: 'Go on?' }, { ...quiet, signal: stop.signal });
    gone.lose();
    await assert.rejects(given, { code: 'cancelled' });
    await link.close();
  });
});

/** A connection whose subscriptions the test answers, with events from the test. */
function fakeEvents() {
  const subscriptions: { input: { after?: number }; say(seq: number): void; fail(): void; ended: boolean }[] =
    [];
  const client = {
    async subscribe(_method: string, input: object, hear: (each: object, answer: object) => void) {
      const began = { subscription: subscriptions.length, log_id: 'log', from: 7 };
      subscriptions.push({
        input,
        say: (seq) => hear({ method: 'event', params: { event: { seq } } }, began),
        fail: () => hear({ method: 'subscription_failed', params: {} }, began),
        ended: false,
      });
      return began;
    },
    async unsubscribe(number: number) {
      const ended = subscriptions[number];
      if (ended) ended.ended = true;
    },
  } as unknown as EngineClient;
  return { client, subscriptions };
}

describe('the event subscription of a link', () => {
  test('the subscription resumes after the last received event, over any connection', async () => {
    const heard: number[] = [];
    const following = createFollowing(() => undefined);
    following.add(({ seq }) => void heard.push(seq));
    const [one, two] = [fakeEvents(), fakeEvents()];
    await Promise.all([following.continueOver(one.client), following.continueOver(one.client)]);
    assert.equal(one.subscriptions.length, 1, 'one subscription for several calls');
    assert.deepEqual(one.subscriptions[0]?.input, {});
    one.subscriptions[0]?.say(8);
    one.subscriptions[0]?.say(9);
    await following.continueOver(two.client);
    assert.deepEqual(two.subscriptions[0]?.input, { after: 9, log_id: 'log' });
    two.subscriptions[0]?.say(10);
    one.subscriptions[0]?.say(10);
    assert.deepEqual(heard, [8, 9, 10], 'events of an abandoned connection are ignored');
  });

  test('the subscription starts afresh for a listener that arrives after the last one has stopped', async () => {
    const following = createFollowing(() => undefined);
    const [one, two] = [fakeEvents(), fakeEvents()];
    const stop = following.add(() => assert.fail('it has stopped'));
    await following.continueOver(one.client);
    stop();
    await until(() => one.subscriptions[0]?.ended);
    one.subscriptions[0]?.say(8);
    assert.equal(following.isWanted(), false);
    const heard: number[] = [];
    following.add(({ seq }) => void heard.push(seq));
    await following.continueOver(two.client);
    assert.deepEqual(two.subscriptions[0]?.input, {}, 'events without a listener are not replayed');
    two.subscriptions[0]?.say(11);
    assert.deepEqual(heard, [11]);
  });

  test('a subscription that the engine ends is renewed', async () => {
    let failed = 0;
    const following = createFollowing(() => {
      failed += 1;
    });
    following.add(() => undefined);
    const { client, subscriptions } = fakeEvents();
    await following.continueOver(client);
    subscriptions[0]?.fail();
    assert.equal(failed, 1);
    await following.continueOver(client);
    assert.equal(subscriptions.length, 2);
  });
});

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import {
  connectToEngine,
  type Engine,
  type EngineClient,
  type EngineHost,
  type EngineNotification,
  hostEngine,
  openEngine,
} from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { countListeners } from '../../support/workspaces/count-listeners.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('a subscription that its client ends', () => {
  let ws: TestWorkspace;
  let engine: Engine;
  let host: EngineHost;
  let client: EngineClient;
  let counting: ReturnType<typeof countListeners>;
  const reads = new Map<string, number>();
  const readsOf = (session: string): number => reads.get(session) ?? 0;

  before(async () => {
    ws = await makeWorkspace();
    // No worker starts, so the sessions stay queued and the test writes their logs.
    engine = await openEngine({ file: join(ws.root, 'svc.yaml'), env: ws.env, workerCap: 0 });
    counting = countListeners(engine);
    // The real engine, with a count of subscribers and readers.
    host = await hostEngine({
      ...counting.counted,
      logs: {
        ...engine.logs,
        open(session, form) {
          const read = engine.logs.open(session, form);
          return (part) => {
            reads.set(session, readsOf(session) + 1);
            return read(part);
          };
        },
      },
    });
    client = await connectToEngine({ cwd: ws.root, env: ws.env });
    for (const title of ['one', 'two']) {
      const { task_id } = await client.call('task.add', { title, agent: 'scripted' });
      await client.call('task.run', { id: task_id });
    }
  });
  after(async () => {
    client?.close();
    await host?.close();
    await ws.close();
  });

  const grow = (session: string, text: string): void => {
    const file = join(ws.root, '.svc', 'agents', session, 'log');
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, text);
  };
  const follow = async (method: string, input: object) => {
    const heard: EngineNotification[] = [];
    const answer = await client.subscribe<{ subscription: number }>(method, input, (each) =>
      heard.push(each),
    );
    return { subscription: answer.subscription, heard };
  };

  /** Follows this log for a few polls, so that any other follower gets its turn too. */
  async function looksPass(session: string): Promise<void> {
    const seen = readsOf(session);
    await until(() => readsOf(session) > seen + 3, `looks at the log of ${session}`);
  }

  test('a subscription to events gets no more of them, the engine frees it, and the connection and its others continue', async () => {
    const one = await follow('events.subscribe', {});
    const other = await follow('events.subscribe', {});
    await client.call('task.add', { title: 'three' });
    await until(() => one.heard.length === 1 && other.heard.length === 1, 'both to hear');
    assert.equal(counting.listenerCount(), 2);
    await client.unsubscribe(one.subscription);
    assert.equal(counting.listenerCount(), 1);
    await client.call('task.add', { title: 'four' });
    await until(() => other.heard.length === 2, 'the other one to hear');
    assert.equal(one.heard.length, 1);
    await client.unsubscribe(other.subscription);
    assert.equal(counting.listenerCount(), 0);
  });

  test('a subscription to a log stops the reader', async () => {
    const one = await follow('log.follow', { session: 's-1', from: 0 });
    const other = await follow('log.follow', { session: 's-2', from: 0 });
    grow('s-1', 'hello\n');
    await until(() => one.heard.length === 1, 'the log');
    await client.unsubscribe(one.subscription);
    const before = readsOf('s-1');
    grow('s-1', 'more\n');
    await looksPass('s-2');
    assert.equal(readsOf('s-1'), before);
    assert.equal(one.heard.length, 1);
    await client.unsubscribe(other.subscription);
  });

  test('a worker can subscribe only to the log of its session', async () => {
    const worker = await connectToEngine({ cwd: ws.root, env: { ...ws.env, SVC_SESSION: 's-1' } });
    const own = await worker.subscribe<{ subscription: number }>(
      'log.follow',
      { session: 's-1' },
      () => undefined,
    );
    await worker.unsubscribe(own.subscription);
    for (const method of ['log.follow', 'session.log'])
      await assert.rejects(worker.callByName(method, { session: 's-2' }), { code: 'chair_only' });
    await worker.call('session.log', { session: 's-1' });
    worker.close();
  });

  test('a subscription to a receiver frees its port before the answer', async () => {
    const input = { host: '127.0.0.1', port: 0, secrets: ['shh'], allow_remote: false };
    const first = await client.subscribe<{ subscription: number; port: number }>(
      'receiver.open',
      input,
      () => undefined,
    );
    await client.unsubscribe(first.subscription);
    const again = await client.subscribe<{ subscription: number; port: number }>(
      'receiver.open',
      { ...input, port: first.port },
      () => undefined,
    );
    assert.equal(again.port, first.port);
    await client.unsubscribe(again.subscription);
  });

  test('a subscription that ended already, of another connection, or that never started is not found', async () => {
    const { subscription } = await follow('events.subscribe', {});
    assert.deepEqual(await client.callByName('unsubscribe', { subscription }), { subscription, ended: true });
    const notFound = (error: SvcError) => error.code === 'not_found';
    await assert.rejects(client.callByName('unsubscribe', { subscription }), notFound);
    await client.unsubscribe(subscription);
    await assert.rejects(client.unsubscribe(subscription), notFound);
    const stranger = await connectToEngine({ cwd: ws.root, env: ws.env });
    const theirs = await follow('events.subscribe', {});
    await assert.rejects(stranger.unsubscribe(theirs.subscription), notFound);
    stranger.close();
    await client.unsubscribe(theirs.subscription);
  });

  test('a subscription ends although its client does not read', async () => {
    const slow = connectSocket(host.socket);
    slow.pause();
    const say = (id: number, method: string, params: object) =>
      slow.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const hello = {
      protocol: 2,
      pid: process.pid,
      actor: 'slow',
      via: 'tui',
      run_id: null,
      cwd: '/',
      attends: false,
      env: {},
    };
    say(1, 'hello', hello);
    say(2, 'log.follow', { session: 's-2', from: 0 });
    grow('s-2', 'x'.repeat(8 * 1024 * 1024));
    // The follower waits for its client once the pipe between them is full.
    const other = await follow('log.follow', { session: 's-1' });
    await until(async () => {
      const before = readsOf('s-2');
      await looksPass('s-1');
      return readsOf('s-2') === before;
    }, 'the follower to wait');
    await client.unsubscribe(other.subscription);
    say(3, 'unsubscribe', { subscription: 1 });
    const lines: string[] = [];
    let text = '';
    slow.on('data', (chunk) => {
      const parts = (text + chunk).split('\n');
      text = parts.pop() ?? '';
      lines.push(...parts);
    });
    slow.resume();
    await until(() => lines.some((line) => line.includes('"id":3')), 'the answer');
    assert.deepEqual(JSON.parse(lines.at(-1) ?? '').result, { subscription: 1, ended: true });
    assert.ok(lines.join('').length < 8 * 1024 * 1024, 'the rest of the log was not sent');
    slow.destroy();
  });

  test('a client that disconnects leaves no follower behind', async () => {
    const gone = await connectToEngine({ cwd: ws.root, env: ws.env });
    await gone.subscribe('events.subscribe', {}, () => undefined);
    await gone.subscribe('log.follow', { session: 's-1' }, () => undefined);
    assert.equal(counting.listenerCount(), 1);
    gone.close();
    await until(() => counting.listenerCount() === 0, 'the engine to let go');
  });
});

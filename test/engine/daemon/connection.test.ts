import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { dirname, join } from 'node:path';
import { type Duplex, duplexPair } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { createLineSplitter } from '../../../engine/core/base/json-lines.ts';
import { type Engine, type EngineHost, hostEngine, openEngine } from '../../../engine/index.ts';
import type { RunSocket, RunSocketServer } from '../../../engine/workers/runner/run-sockets.ts';
import { settled, until } from '../../support/wait.ts';
import { countListeners } from '../../support/workspaces/count-listeners.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const RUN = { sessionId: 's-1', runId: randomUUID() };
const HELLO = {
  protocol: 2,
  pid: process.pid,
  actor: 'w',
  via: 'tool',
  run_id: null,
  cwd: '/',
  attends: false,
  env: {},
};

interface Message {
  id?: number | null;
  method?: string;
  params: { text: string; event: { kind: string } };
  result: Record<string, unknown>;
  error?: { message: string; data: { code: string } };
}

/** The client's end of a connection. */
function useConnection(end: Duplex) {
  const heard: Message[] = [];
  end.on(
    'data',
    createLineSplitter(
      (line) => heard.push(JSON.parse(line)),
      () => assert.fail('the line is too long'),
    ),
  );
  end.on('error', () => undefined);
  // As a socket does by itself.
  end.on('end', () => end.end());
  let count = 0;
  return {
    end,
    heard,
    closed: new Promise<void>((resolve) => end.once('close', resolve)),
    async call(method: string, params: object): Promise<Message> {
      count += 1;
      const id = count;
      end.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return until(() => heard.find((message) => message.id === id), `the answer to ${method}`);
    },
    listEvents: () => heard.flatMap(({ method, params }) => (method === 'event' ? [params.event.kind] : [])),
    readLogged: () => heard.flatMap(({ method, params }) => (method === 'log' ? [params.text] : [])).join(''),
  };
}

describe('a connection of a worker', () => {
  let ws: TestWorkspace;
  let engine: Engine;
  let host: EngineHost;
  let server: RunSocketServer;
  let opened: RunSocket;
  let counting: ReturnType<typeof countListeners>;

  before(async () => {
    ws = await makeWorkspace();
    engine = await openEngine({ file: join(ws.root, 'svc.yaml'), env: ws.env, workerCap: 0 });
    counting = countListeners(engine);
    // The real host, with a count of its subscribers, whose server of connections is passed on.
    host = await hostEngine({
      ...counting.counted,
      runSockets: {
        ...engine.runSockets,
        attach(to) {
          server = to;
          engine.runSockets.attach(to);
        },
      },
    });
    const client = await ws.connect();
    const { task_id } = await client.call('task.add', { title: 'one', agent: 'scripted' });
    await client.call('task.run', { id: task_id });
    const folder = join(ws.repository.folder, 'seat');
    opened = await engine.runSockets.open(RUN, folder, folder);
  });
  after(async () => {
    await opened?.close();
    await host?.close();
    await ws.close();
  });

  const openings: [name: string, open: () => Promise<Duplex>][] = [
    [
      'a socket',
      async () => {
        const socket = connectSocket(join(opened.folder, 'svc.sock'));
        await new Promise((resolve) => socket.once('connect', resolve));
        return socket;
      },
    ],
    [
      'a stream that is no socket',
      async () => {
        const [theirs, ours] = duplexPair();
        server.serve(ours, RUN);
        return theirs;
      },
    ],
  ];

  for (const [name, open] of openings) {
    const welcome = async () => {
      const connection = useConnection(await open());
      const { result } = await connection.call('hello', HELLO);
      assert.deepEqual([result.seat, result.session_id], ['worker', 's-1']);
      return connection;
    };

    test(`a connection over ${name} answers calls, and refuses those of other seats`, async () => {
      const { call, end } = await welcome();
      const key = randomUUID();
      const shown = await call('tool', { name: 'task_list', arguments: {}, key });
      assert.match(JSON.stringify(shown), /title\W+one/);
      const refused = await call('call', { operation: 'task.add', input: { title: 'x' }, key: randomUUID() });
      assert.equal(refused.error?.data.code, 'chair_only');
      end.destroy();
    });

    test(`a subscription over ${name} notifies, waits for a slow client, and ends with its client's half`, async () => {
      const { call, heard, end, closed, listEvents, readLogged } = await welcome();
      await call('events.subscribe', {});
      await call('log.follow', { session: 's-1', from: 0 });
      assert.equal(counting.listenerCount(), 1);
      const client = await ws.connect();
      await client.call('msg.send', { to_session: 's-1', body: 'x' });
      await until(() => listEvents().length > 0, 'an event');
      end.pause();
      const file = join(ws.root, '.svc', 'agents', 's-1', 'log');
      mkdirSync(dirname(file), { recursive: true });
      const before = readLogged().length;
      const text = `${'x'.repeat(99)}\n`.repeat(30_000);
      appendFileSync(file, text);
      end.resume();
      await until(() => readLogged().length - before === text.length, 'the whole log');
      end.end();
      await settled(closed, 'the end of the connection');
      await until(() => counting.listenerCount() === 0, 'the engine to let go');
      assert.ok(heard.every(({ error }) => error === undefined));
    });

    test(`a client over ${name} that says too much before its hello learns why, and is let go`, async () => {
      const { heard, end, closed } = useConnection(await open());
      end.write('x'.repeat(100_000));
      await until(() => heard.length > 0, 'the reason');
      assert.deepEqual([heard[0]?.id, heard[0]?.error?.data.code], [null, 'body_too_large']);
      await settled(closed, 'the end of the connection');
    });
  }
});

import assert from 'node:assert/strict';
import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connectToEngine, type EngineClient, readDaemonRecord } from '../../../engine/index.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace();
  await ws.svc(['up']);
});
after(() => ws.close());

/** A raw connection: `said` is what came back, `isOver` is true once the engine has closed it. */
async function rawConnection(): Promise<{ socket: Socket; said(): string; isOver(): boolean }> {
  const socket = connectSocket(readDaemonRecord(join(ws.root, '.svc'))?.socket ?? assert.fail());
  let text = '';
  let isOver = false;
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isOver = true;
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, said: () => text, isOver: () => isOver };
}

const memoryMb = async (): Promise<number> => {
  const { stdout } = await ws.svc(['status', '--json']);
  return (JSON.parse(stdout) as { memory_bytes: number }).memory_bytes / 1024 ** 2;
};

hostile(
  {
    attacker: 'worker',
    tries: 'fill the engine’s memory by connections without a greeting',
    lite: 'ended after 64 KiB, 16 lines or 10 s',
    strict: 'ended after 64 KiB, 16 lines or 10 s',
  },
  async () => {
    const before = await memoryMb();
    const connections = await Promise.all(Array.from({ length: 8 }, rawConnection));
    const part = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent < 30; sent += 1)
      for (const { socket } of connections) if (socket.writable) socket.write(part);
    await until(() => connections.every(({ isOver }) => isOver()), 'their end');
    assert.match(connections[0]?.said() ?? '', /64|65536/);
    const grown = (await memoryMb()) - before;
    // Includes garbage; without the limit it would be more than 240.
    assert.ok(grown < 150, `${Math.round(grown)} MB`);
    // Short lines, without a hello and with a rejected one.
    for (const line of [
      '{"jsonrpc":"2.0","id":1,"method":"engine.status"}',
      'nonsense',
      '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}',
    ]) {
      const { socket, said, isOver } = await rawConnection();
      for (let sent = 0; sent < 200 && socket.writable; sent += 1) {
        socket.write(`${line}\n`);
        await delay(1);
      }
      await until(isOver, 'its end');
      assert.match(said(), /limit_reached/);
    }
    // Silence.
    const { said, isOver } = await rawConnection();
    await until(isOver, 'the end of a silent one');
    assert.match(said(), /hello arrived within/);
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'use up the engine’s connections and subscriptions',
    lite: 'refused at the limit, the others continue',
    strict: 'refused at the limit, the others continue',
  },
  async () => {
    const client: EngineClient = await connectToEngine({ cwd: ws.root, env: ws.env });
    const subscribe = () =>
      client.subscribe<{ subscription: number }>('events.subscribe', {}, () => undefined);
    const first = await subscribe();
    for (let more = 1; more < 64; more += 1) await subscribe();
    await assert.rejects(subscribe(), { code: 'limit_reached' });
    await client.unsubscribe(first.subscription);
    await subscribe();
    const many = await Promise.all(Array.from({ length: 511 }, rawConnection));
    await assert.rejects(connectToEngine({ cwd: ws.root, env: ws.env }), { code: 'limit_reached' });
    assert.equal(typeof (await client.call('engine.status')).pid, 'number');
    for (const { socket } of many) socket.destroy();
    await until(async () => (await ws.svc(['status'])).code === 0, 'room for others');
    client.close();
  },
);

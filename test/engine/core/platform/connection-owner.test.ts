import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { platform } from '../../../../engine/core/platform/index.ts';
import { until } from '../../../support/wait.ts';

const { findConnectionOwners } = platform.sockets;

/** A program that connects from an address and port, and keeps running. */
const CLIENT = `const [host, port, from, fromPort] = process.argv.slice(1);
require('net').connect({ host, port: Number(port), localAddress: from, localPort: Number(fromPort) }).on('error', (e) => { console.error(e.message); process.exit(1); });`;

async function connected(listen: string, host: string, from: readonly string[]) {
  const server = createServer().listen(0, listen);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted: Socket[] = [];
  server.on('connection', (socket) => accepted.push(socket.on('error', () => undefined)));
  // A free port.
  const probe = createServer().listen(0, from[0]);
  await once(probe, 'listening');
  const fromPort = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  const clients: ChildProcess[] = [];
  for (const address of from) {
    const before = accepted.length;
    clients.push(
      spawn(process.execPath, ['-e', CLIENT, host, String(port), address, String(fromPort)], {
        stdio: 'inherit',
      }),
    );
    await until(() => accepted.length > before, `the connection from ${address}`);
  }
  return {
    accepted,
    clients,
    end: () => {
      for (const client of clients) client.kill('SIGKILL');
      server.close();
    },
  };
}

test('the owner of a connection is found by both addresses: the same port of another address has another owner', async () => {
  const { accepted, clients, end } = await connected('127.0.0.1', '127.0.0.1', [
    '127.0.0.1',
    '127.0.0.2',
    '127.0.0.3',
  ]);
  try {
    const ports = new Set(accepted.map(({ remotePort }) => remotePort));
    assert.equal(ports.size, 1);
    for (const [at, socket] of accepted.entries())
      assert.deepEqual(await findConnectionOwners(socket), [clients[at]?.pid]);
    const { remotePort, localPort } = accepted[0] as Socket;
    const other = { remotePort, localPort, remoteAddress: '127.0.0.9', localAddress: '127.0.0.1' };
    assert.deepEqual(await findConnectionOwners(other), []);
    assert.deepEqual(await findConnectionOwners({}), []);
  } finally {
    end();
  }
});

test('the owner is found where IPv4 arrives as IPv6, and over IPv6', async () => {
  for (const [listen, host, from] of [
    ['::', '127.0.0.1', '127.0.0.1'],
    ['::1', '::1', '::1'],
  ] as const) {
    const { accepted, clients, end } = await connected(listen, host, [from]);
    try {
      assert.deepEqual(await findConnectionOwners(accepted[0] as Socket), [clients[0]?.pid], listen);
    } finally {
      end();
    }
  }
});

test('every process that holds the connection is its owner', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const [peer] = await accepted;
  const child = spawn('sleep', ['600'], { stdio: ['ignore', 'ignore', 'ignore', socket] });
  try {
    const owners = await findConnectionOwners(peer);
    assert.deepEqual(owners.sort(), [process.pid, child.pid].sort());
  } finally {
    child.kill('SIGKILL');
    socket.destroy();
    peer.destroy();
    server.close();
  }
});

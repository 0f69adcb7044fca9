import { randomBytes } from 'node:crypto';
import { chmodSync, renameSync, rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { asSvcError } from '../core/base/errors.ts';
import { keepAliveDuring } from '../core/base/keep-alive.ts';
import { listenOn } from '../core/http/listen.ts';
import { releaseIdleMemory } from '../core/platform/idle-memory.ts';
import { type KernelCalls, platform } from '../core/platform/index.ts';
import {
  type DaemonRecord,
  readDaemonRecord,
  removeDaemonRecord,
  writeDaemonRecord,
} from '../core/workspace/daemon-record.ts';
import { findOwnSupervisor } from '../core/workspace/own-supervisor.ts';
import { registerWorkspace } from '../core/workspace/registry.ts';
import { checkSocket, makeSocketFolder, resolveSocketPath } from '../core/workspace/socket-path.ts';
import type { ProcessName } from '../workers/runner/processes/index.ts';
import type { Engine } from './compose/compose.ts';
import {
  refuseConnection,
  type SharedStreams,
  serveConnection,
  tooManyConnectionsError,
} from './connection.ts';
import { createDaemonHttp } from './http.ts';
import { createMcpHost } from './mcp/index.ts';
import { createSubscriptionQuota } from './open-subscriptions.ts';

export interface EngineHost {
  readonly socket: string;
  readonly http: { host: string; port: number };
  /** Resolves when the host has closed, by `close` or on a client's request. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Each agent has a few connections, each dashboard and command one. */
const MOST_CONNECTIONS = 512;

/** Opens an engine to clients: on a local socket and over loopback HTTP, with `daemon.json` to find both. */
export async function hostEngine(engine: Engine): Promise<EngineHost> {
  const { paths } = engine;
  const path = resolveSocketPath(paths.socket, engine.env);
  makeSocketFolder(dirname(path), dirname(path) === paths.data);
  checkSocket(path, paths.data);

  const kernel = await platform.loadKernel();
  if (kernel.problem !== null)
    engine.log.error({ problem: kernel.problem }, 'no caller is the Chair: callers cannot be distinguished');
  const clearAway = kernel.adoptOrphans();
  const connections = new Set<Socket>();
  const left = readDaemonRecord(paths.data);
  const token = left !== null && isToken(left.token) ? left.token : randomBytes(32).toString('hex');
  const mcp = createMcpHost(engine, (shown) => shown === token);
  const streams: SharedStreams = { quota: createSubscriptionQuota(), mcp };
  const server = createSocketServer(engine, { kernel, connections, streams });
  await listenPrivately(server, path);

  const web = createDaemonHttp({
    token,
    isRun: (shown) => engine.seats.sessionOfRun(shown) !== null,
    mcp: mcp.handle,
    isLoopback: engine.isLoopback,
    health: () => ({
      ok: true,
      pid: process.pid,
      version: engine.version,
      workspace: engine.config().workspace.name,
    }),
  });
  try {
    await listenAgain(web, engine.daemonAddress(), left);
  } catch (error) {
    // An open socket would keep this process alive, and clients waiting for it to end.
    server.close();
    clearAway();
    for (const socket of connections) socket.destroy();
    throw error;
  }
  const bound = web.address() as AddressInfo;
  const http = { host: bound.address, port: bound.port };
  engine.setHttp(http);
  const { root, version } = engine;
  const supervisor = readOwnSupervisor(engine);
  writeDaemonRecord(paths.data, {
    pid: process.pid,
    version,
    root,
    dataId: engine.dataId,
    socket: path,
    http,
    token,
    startedAt: engine.startedAt,
    process: engine.ownProcess,
    supervisor,
  });
  registerHost(engine);
  // After the caller has told that it listens.
  setImmediate(() => {
    engine.prepareFirstCalls();
    // A process with a supervisor does nothing else; another host may start other programs.
    if (supervisor !== null) void engine.enterEngineCgroup();
  });

  const idleMemory = releaseIdleMemory({ collect: globalThis.gc });
  let closing: Promise<void> | null = null;
  let resolveClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  async function closeHost({ isGone }: { isGone: boolean }): Promise<void> {
    // In a folder that was created again, record and socket belong to another host.
    if (!isGone) removeDaemonRecord(paths.data);
    idleMemory.close();
    server.close();
    web.close();
    await mcp.close();
    web.closeAllConnections();
    await engine.close();
    for (const socket of connections) socket.destroySoon();
    if (!isGone) rmSync(path, { force: true });
    clearAway();
    resolveClosed();
  }
  const close = ({ isGone } = { isGone: false }): Promise<void> => {
    closing ??= keepAliveDuring(() => closeHost({ isGone }));
    return closing;
  };
  engine.runSockets.attach({
    serve: (socket, run) => serveConnection(engine, socket, streams, { process: null, run }),
    refuse: (socket, most) => refuseConnection(socket, tooManyConnectionsError(most)),
  });
  engine.onStopAsked(() => void close());
  engine.onGone(() => void close({ isGone: true }));
  return { socket: path, http, closed, close: () => close() };
}

/** Creates the server of the socket, which admits this user and root. */
function createSocketServer(
  engine: Engine,
  {
    kernel,
    connections,
    streams,
  }: {
    kernel: Pick<KernelCalls, 'peerOf'>;
    connections: Set<Socket>;
    streams: SharedStreams;
  },
): Server {
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    if (connections.size > MOST_CONNECTIONS) {
      refuseConnection(socket, tooManyConnectionsError(MOST_CONNECTIONS));
      return;
    }
    // Read immediately: later its pid may belong to another process.
    const peer = kernel.peerOf(socket);
    if (peer !== null && !isTrustedUser(peer.uid)) {
      engine.log.error({ uid: peer.uid, pid: peer.pid }, 'another user connected to the socket');
      socket.destroy();
      return;
    }
    const pidStart = peer === null || peer.pid <= 0 ? null : engine.startOf(peer.pid);
    const process: ProcessName | null =
      peer === null || pidStart === null ? null : { pid: peer.pid, pidStart };
    serveConnection(engine, socket, streams, { process, run: null });
  });
  server.maxConnections = 2 * MOST_CONNECTIONS;
  return server;
}

/**
 * Listens under a temporary name first: no one can connect before its mode is set, and closing it later removes that
 * name, never the socket of a later host. We hold the workspace's lock, so a socket at the real name belongs to a host
 * that died.
 */
async function listenPrivately(server: Server, path: string): Promise<void> {
  const own = `${path}.${process.pid % 10_000}`;
  rmSync(own, { force: true });
  await listenOn(server, { path: own });
  chmodSync(own, 0o600);
  renameSync(own, path);
}

const isToken = (text: unknown): boolean => typeof text === 'string' && /^[\da-f]{64}$/.test(text);

/**
 * Listens where clients expect the host. If any port will do, that is the port of a host that was killed, if it is
 * free: its clients over HTTP then continue with the same address and token.
 */
async function listenAgain(
  web: HttpServer,
  wanted: { host: string; port: number },
  left: DaemonRecord | null,
): Promise<void> {
  if (wanted.port === 0 && left !== null && left.http.host === wanted.host) {
    try {
      return await listenOn(web, { host: wanted.host, port: left.http.port });
    } catch (error) {
      if (asSvcError(error).code !== 'address_in_use') throw error;
    }
  }
  await listenOn(web, wanted);
}

/** Lets clients find this workspace among those of the machine. Without it everything else works. */
function registerHost({ env, dataId, config, root, file, paths, startedAt, log }: Engine): void {
  try {
    const { name } = config().workspace;
    registerWorkspace(env, { id: dataId, name, root, file, data: paths.data, startedAt });
  } catch (error) {
    log.warn(
      { error: asSvcError(error).message },
      'this workspace is not in the list of workspaces of the machine',
    );
  }
}

/** The process that started this one, and restarts it after a crash. */
function readOwnSupervisor({ env, startOf }: Pick<Engine, 'env' | 'startOf'>): ProcessName | null {
  const pid = findOwnSupervisor(env);
  const pidStart = pid === null ? null : startOf(pid);
  return pid === null || pidStart === null ? null : { pid, pidStart };
}

/** Root can do what we do anyway; its process still decides its seat. */
const isTrustedUser = (uid: number): boolean => uid === 0 || uid === process.getuid?.();

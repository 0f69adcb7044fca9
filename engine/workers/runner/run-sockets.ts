import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { listenOn } from '../../core/http/listen.ts';
import { writeDaemonRecord } from '../../core/workspace/daemon-record.ts';
import { makeSocketFolder, resolveSocketFolder } from '../../core/workspace/socket-path.ts';

/** The worker that a connection belongs to, regardless of what its client claims. */
export interface SeatOfRun {
  sessionId: string;
  runId: string;
}

export interface RunSocket {
  /** The folder with the socket and a `daemon.json` that leads to it; mounted for the run as `seenAt`. */
  folder: string;
  /** Closes the socket after the end of the run and removes its folder. */
  close(): Promise<void>;
}

export interface RunSockets {
  /**
   * Opens a socket whose every connection belongs to that worker, or returns the open one. When it is opened again
   * after a restart of the engine, a running run finds it at the same path, since it sees the folder and not the
   * socket.
   * @param folder the location of the socket; another folder is used if the path is too long for a socket
   * @param seenAt the path of that folder inside the run; null for the same path
   */
  open(run: SeatOfRun, folder: string, seenAt: string | null): Promise<RunSocket>;
  /** Serves a connection of a worker on another machine. */
  serveConnection(connection: Duplex, run: SeatOfRun): void;
  /** Sets the server of the connections; earlier connections wait until then. */
  attach(server: RunSocketServer): void;
  /** Closes all sockets without ending the runs. */
  close(): Promise<void>;
}

export interface RunSocketServer {
  serve(connection: Duplex, run: SeatOfRun): void;
  /** Refuses a connection beyond a run's limit. */
  refuse(connection: Duplex, most: number): void;
}

/** Connections per run; an agent has a few. */
const MOST_OF_A_RUN = 64;

/** Owns the sockets of runs whose callers cannot be identified by pids or marks: in a sandbox, or on another machine. */
export function createRunSockets({
  root,
  version,
  env,
}: {
  root: string;
  version: string;
  env: NodeJS.ProcessEnv;
}): RunSockets {
  const servers = new Set<Server>();
  const opened = new Map<string, RunSocket>();
  const connections = new Set<Socket>();
  let attached: RunSocketServer | null = null;
  let waiting: { socket: Duplex; run: SeatOfRun }[] = [];

  async function closeServer(server: Server, own: Iterable<Socket>): Promise<void> {
    servers.delete(server);
    const closed = once(server, 'close');
    server.close();
    for (const socket of own) socket.destroy();
    await closed;
  }

  function serveConnection(socket: Duplex, run: SeatOfRun): void {
    if (attached === null) waiting.push({ socket, run });
    else attached.serve(socket, run);
  }

  return {
    serveConnection,
    async open(run, wanted, seenAt) {
      const known = opened.get(run.runId);
      if (known !== undefined) return known;
      const folder = resolveSocketFolder(wanted, env);
      makeSocketFolder(folder, folder === wanted);
      const path = join(folder, 'svc.sock');
      rmSync(path, { force: true });
      const own = new Set<Socket>();
      const server = createServer((socket) => {
        for (const all of [own, connections]) {
          all.add(socket);
          socket.on('close', () => all.delete(socket));
        }
        socket.on('error', () => socket.destroy());
        if (own.size > MOST_OF_A_RUN) {
          if (attached === null) socket.destroy();
          else attached.refuse(socket, MOST_OF_A_RUN);
          return;
        }
        serveConnection(socket, run);
      });
      server.maxConnections = 2 * MOST_OF_A_RUN;
      await listenOn(server, { path });
      chmodSync(path, 0o600);
      servers.add(server);
      writeDaemonRecord(folder, {
        pid: process.pid,
        version,
        root,
        dataId: '',
        socket: join(seenAt ?? folder, 'svc.sock'),
        http: { host: '', port: 0 },
        token: '',
        startedAt: '',
        process: null,
        supervisor: null,
      });
      const socket: RunSocket = {
        folder,
        async close() {
          opened.delete(run.runId);
          if (servers.has(server)) await closeServer(server, own);
          rmSync(folder, { recursive: true, force: true });
        },
      };
      opened.set(run.runId, socket);
      return socket;
    },
    attach(to) {
      attached = to;
      const early = waiting;
      waiting = [];
      for (const { socket, run } of early) if (!socket.destroyed) to.serve(socket, run);
    },
    async close() {
      await Promise.all([...servers].map((server) => closeServer(server, [])));
      for (const socket of connections) socket.destroy();
    },
  };
}

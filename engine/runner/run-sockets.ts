import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { writeDaemonRecord } from '../workspace/daemon-record.ts';
import { makeSocketFolder, resolveSocketFolder } from '../workspace/socket-path.ts';

/** The worker that a connection is, whatever its client says. */
export interface SeatOfRun {
  sessionId: string;
  runId: string;
}

export interface RunSocket {
  /** The folder with the socket and a `daemon.json` that leads to it; to be shown to the run as `seenAt`. */
  folder: string;
  /** The run has ended: nothing of the socket is left. */
  close(): Promise<void>;
}

export interface RunSockets {
  /**
   * A socket on which every connection is that worker. Opened again after a restart of the engine it is found at the
   * same place by what still runs, since it is the folder that a run sees and not the socket. Open already, it is that.
   * @param folder where it is to lie; another one is taken when that is too deep for a socket
   * @param seenAt what the run calls that folder
   */
  open(run: SeatOfRun, folder: string, seenAt: string): Promise<RunSocket>;
  /** Who serves the connections; those that came before wait for it. */
  attach(server: RunSocketServer): void;
  /** Lets go of every run without ending it. */
  close(): Promise<void>;
}

export interface RunSocketServer {
  serve(socket: Socket, run: SeatOfRun): void;
  /** One connection of a run too many. */
  refuse(socket: Socket, most: number): void;
}

/** Its agent has a few. */
const MOST_OF_A_RUN = 64;

/** Owns the sockets of confined runs, to which neither pids nor marks mean anything. */
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
  let waiting: { socket: Socket; run: SeatOfRun }[] = [];

  async function closeServer(server: Server, own: Iterable<Socket>): Promise<void> {
    servers.delete(server);
    const closed = once(server, 'close');
    server.close();
    for (const socket of own) socket.destroy();
    await closed;
  }

  return {
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
        if (attached === null) waiting.push({ socket, run });
        else attached.serve(socket, run);
      });
      server.maxConnections = 2 * MOST_OF_A_RUN;
      server.listen(path);
      await once(server, 'listening');
      chmodSync(path, 0o600);
      servers.add(server);
      writeDaemonRecord(folder, {
        pid: process.pid,
        version,
        root,
        dataId: '',
        socket: join(seenAt, 'svc.sock'),
        http: { host: '', port: 0 },
        token: '',
        startedAt: '',
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

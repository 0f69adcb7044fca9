import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listenOn } from '../../core/http/listen.ts';
import type { RunName } from '../../workers/runner/runs/index.ts';

/** Connections of a run to the gateway at the same time; an agent and its subagents have a dozen. */
const MOST_CONNECTIONS = 64;

/** Gives runs a port of this machine that leads to the gateway of the board. */
export interface GatewayPorts {
  /** Returns the run's port, and opens it if it is closed: on the wanted one, if that is free. */
  open(run: RunName, wanted: number | null): Promise<number>;
  close(runId: string): void;
  closeAll(): void;
}

/** @param connect joins a connection of a run to the board's gateway */
export function createGatewayPorts(connect: (run: RunName, connection: Duplex) => void): GatewayPorts {
  const opened = new Map<string, { server: Server; connections: Set<Socket>; port: number }>();

  async function listen(server: Server, wanted: number | null): Promise<void> {
    try {
      await listenOn(server, { host: '127.0.0.1', port: wanted ?? 0 });
    } catch (error) {
      if (wanted === null) throw error;
      await listenOn(server, { host: '127.0.0.1', port: 0 });
    }
  }

  function closePort(runId: string): void {
    const one = opened.get(runId);
    opened.delete(runId);
    one?.server.close();
    for (const connection of one?.connections ?? []) connection.destroy();
  }

  return {
    async open(run, wanted) {
      const known = opened.get(run.runId);
      if (known !== undefined) return known.port;
      const connections = new Set<Socket>();
      const server = createServer((socket) => {
        connections.add(socket);
        socket.on('close', () => connections.delete(socket));
        socket.on('error', () => socket.destroy());
        connect(run, socket);
      });
      server.maxConnections = MOST_CONNECTIONS;
      await listen(server, wanted);
      const { port } = server.address() as AddressInfo;
      opened.set(run.runId, { server, connections, port });
      return port;
    },
    close: closePort,
    closeAll() {
      for (const runId of opened.keys()) closePort(runId);
    },
  };
}

import type { Server } from 'node:http';

/** The client timeouts of a server, and its maximum number of clients. */
export interface HttpLimits {
  /** For the headers of a request, ms. */
  headersMs: number;
  /** For a whole request, ms. */
  requestMs: number;
  /** For the next request of a connection, ms. */
  idleMs: number;
  connections: number;
  /** Interval of checks for slow clients; default: Node's own. */
  checkEveryMs?: number;
  /** True if Node itself refuses a request without a Host; false if the server's own code does. */
  requiresHost?: boolean;
}

/** Creates an HTTP server that disconnects slow clients and limits their number. */
export function createLimitedServer({
  headersMs,
  requestMs,
  idleMs,
  connections,
  checkEveryMs,
  requiresHost = true,
}: HttpLimits): Server {
  // Importing node:http also loads the client behind fetch, 34 ms of CPU that most engines never need.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    requireHostHeader: requiresHost,
    ...(checkEveryMs === undefined ? {} : { connectionsCheckingInterval: checkEveryMs }),
  });
  server.maxConnections = connections;
  return server;
}

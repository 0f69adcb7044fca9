import type { Server } from 'node:http';

/** How long a server waits for its clients, and how many it has at once. */
export interface HttpLimits {
  /** For the headers of a request, ms. */
  headersMs: number;
  /** For a whole request, ms. */
  requestMs: number;
  /** For the next request of a connection, ms. */
  idleMs: number;
  connections: number;
  /** Between two looks for clients that are too slow; Node's own pause unless it is given. */
  checkEveryMs?: number;
  /** Whether Node itself refuses a request without a Host; it does unless the server's own code is to. */
  requiresHost?: boolean;
}

/** A server of HTTP that cuts slow clients and takes only so many. */
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

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../core/api/operation.ts';
import { accountName } from '../../core/base/account.ts';
import { admitCaller } from '../admit.ts';
import type { Engine } from '../compose/compose.ts';
import type { McpEndpoint } from './http.ts';

const readHeader = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/**
 * Identifies a client of `/mcp`. A run's mark is that worker's token. The daemon's token only grants access: the seat
 * is determined by the processes that hold the connection, as on the socket, and an unknown process is never the
 * Chair. `X-Svc-Session` and `X-Svc-Agent` correspond to `SVC_SESSION` and `SVC_AGENT` elsewhere; `X-Svc-Cwd` is the
 * folder that determines the project.
 */
async function admitRequest(
  engine: Engine,
  isChairToken: (token: string) => boolean,
  request: IncomingMessage,
  token: string,
): Promise<Caller> {
  const caller = await admitCaller(engine, {
    standing: await engine.standingOfClient(request.socket),
    // Its process may contain several clients, so it does not hold the seat.
    holder: null,
    runId: isChairToken(token) ? null : token,
    actor: accountName(),
    via: 'tool',
    cwd: readHeader(request, 'x-svc-cwd') ?? null,
    env: { SVC_SESSION: readHeader(request, 'x-svc-session'), SVC_AGENT: readHeader(request, 'x-svc-agent') },
    attends: true,
  });
  return caller;
}

/** `/mcp`, loaded with the first request: an engine without MCP over HTTP does not pay for it. */
export function mcpOverHttp(engine: Engine, isChairToken: (token: string) => boolean) {
  let endpoint: Promise<McpEndpoint> | null = null;
  return {
    async handle(request: IncomingMessage, response: ServerResponse, token: string): Promise<void> {
      endpoint ??= import('./http.ts').then(({ createMcpEndpoint }) =>
        createMcpEndpoint(engine, (from, shown) => admitRequest(engine, isChairToken, from, shown)),
      );
      await (await endpoint).handle(request, response, token);
    },
    async close(): Promise<void> {
      await (await endpoint)?.close();
    },
  };
}

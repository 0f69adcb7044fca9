import type { IncomingMessage, ServerResponse } from 'node:http';
import { accountName } from '../../account.ts';
import type { Engine } from '../../compose.ts';
import type { Caller } from '../../operation.ts';
import { admit } from '../admit.ts';
import type { McpEndpoint } from './http.ts';

const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/**
 * Who a client of `/mcp` is. The daemon's token is the Chair's, a run's mark is that worker's; a client whose process
 * belongs to a run is that worker whatever token it shows. `X-Svc-Session` and `X-Svc-Agent` say what `SVC_SESSION` and
 * `SVC_AGENT` say elsewhere; `X-Svc-Cwd` is the folder whose project it is about.
 */
async function admitted(
  engine: Engine,
  isChairToken: (token: string) => boolean,
  request: IncomingMessage,
  token: string,
): Promise<Caller> {
  const { remotePort, localPort } = request.socket;
  const caller = await admit(engine, {
    pid:
      remotePort === undefined || localPort === undefined
        ? null
        : await engine.ownerOfConnection(remotePort, localPort),
    runId: isChairToken(token) ? null : token,
    actor: accountName(),
    via: 'tool',
    cwd: header(request, 'x-svc-cwd') ?? null,
    env: { SVC_SESSION: header(request, 'x-svc-session'), SVC_AGENT: header(request, 'x-svc-agent') },
    attends: true,
    isShared: true,
  });
  return caller;
}

/** `/mcp`, loaded with the first request: an engine that nobody speaks MCP to over HTTP does not pay for it. */
export function mcpOverHttp(engine: Engine, isChairToken: (token: string) => boolean) {
  let endpoint: Promise<McpEndpoint> | null = null;
  return {
    async handle(request: IncomingMessage, response: ServerResponse, token: string): Promise<void> {
      endpoint ??= import('./http.ts').then(({ createMcpEndpoint }) =>
        createMcpEndpoint(engine, (from, shown) => admitted(engine, isChairToken, from, shown)),
      );
      await (await endpoint).handle(request, response, token);
    },
    async close(): Promise<void> {
      await (await endpoint)?.close();
    },
  };
}

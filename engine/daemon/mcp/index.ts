import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../compose/compose.ts';
import type { McpEndpoint } from './http.ts';
import type { McpService } from './service.ts';

/** The MCP server of an engine, loaded with its first client: an engine without one does not pay for it. */
export interface McpHost {
  openPipe(...opening: Parameters<McpService['openPipe']>): Promise<ReturnType<McpService['openPipe']>>;
  /** Answers a request to `/mcp`. */
  handle(request: IncomingMessage, response: ServerResponse, token: string): Promise<void>;
  close(): Promise<void>;
}

export function createMcpHost(engine: Engine, isChairToken: (token: string) => boolean): McpHost {
  let service: Promise<McpService> | null = null;
  let endpoint: Promise<McpEndpoint> | null = null;
  function loadService(): Promise<McpService> {
    service ??= import('./service.ts').then(({ createMcpService }) => createMcpService(engine));
    return service;
  }
  async function loadEndpoint(): Promise<McpEndpoint> {
    const [{ createMcpEndpoint }, loaded] = await Promise.all([import('./http.ts'), loadService()]);
    return createMcpEndpoint(loaded, isChairToken);
  }
  return {
    openPipe: async (...opening) => (await loadService()).openPipe(...opening),
    async handle(request, response, token) {
      endpoint ??= loadEndpoint();
      await (await endpoint).handle(request, response, token);
    },
    async close() {
      await (await endpoint)?.close();
    },
  };
}

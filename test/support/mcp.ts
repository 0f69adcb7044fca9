import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { SVC, type TestWorkspace } from './workspace.ts';

export interface McpClient {
  client: Client;
  /** Of the bridge; null over HTTP. */
  pid: number | null;
  /** The structured result; throws what a refusal says, its code first. */
  call<T = Record<string, unknown>>(
    name: string,
    input?: object,
    options?: { signal?: AbortSignal; onprogress?: (progress: { message?: string | undefined }) => void },
  ): Promise<T>;
  /** The structured content of a refusal. */
  refused(name: string, input?: object): Promise<{ code: string; message: string; hint: string | null }>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

/** An MCP client over `transport`. */
export async function mcpClient(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport as never);
  const ask = async (name: string, input: object, options = {}) =>
    (await client.callTool({ name, arguments: input as Record<string, unknown> }, undefined, {
      timeout: 60_000,
      ...options,
    })) as CallToolResult;
  return {
    client,
    pid: transport instanceof StdioClientTransport ? transport.pid : null,
    async call<T>(name: string, input: object = {}, options = {}) {
      const { isError, structuredContent } = await ask(name, input, options);
      if (isError) throw new Error(`${structuredContent?.code}: ${structuredContent?.message}`);
      return structuredContent as T;
    },
    async refused(name, input = {}) {
      const { isError, structuredContent } = await ask(name, input);
      if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(structuredContent)}`);
      return structuredContent as { code: string; message: string; hint: string | null };
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

/** An MCP client of `svc mcp`, as an agent program has one: by default the Chair's. */
export const stdioClient = (
  ws: Pick<TestWorkspace, 'root' | 'env'>,
  { env = {}, cwd = ws.root }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<McpClient> =>
  mcpClient(
    new StdioClientTransport({
      command: process.execPath,
      args: [SVC, 'mcp'],
      cwd,
      env: { ...(ws.env as Record<string, string>), ...env },
      stderr: 'inherit',
    }),
  );

/** Where `/mcp` of the running daemon is, and the Chair's token. */
export function mcpEndpoint(ws: Pick<TestWorkspace, 'root'>): { url: URL; token: string } {
  const record = JSON.parse(readFileSync(join(ws.root, '.svc', 'daemon.json'), 'utf8')) as {
    http: { host: string; port: number };
    token: string;
  };
  return { url: new URL(`http://${record.http.host}:${record.http.port}/mcp`), token: record.token };
}

/** An MCP client of the daemon's `/mcp`. */
export function httpClient(
  ws: Pick<TestWorkspace, 'root'>,
  { token, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
): Promise<McpClient> {
  const endpoint = mcpEndpoint(ws);
  const requestInit = { headers: { authorization: `Bearer ${token ?? endpoint.token}`, ...headers } };
  return mcpClient(new StreamableHTTPClientTransport(endpoint.url, { requestInit }));
}

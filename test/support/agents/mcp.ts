import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { z } from 'zod';
import type { FieldNames, RenamedFields } from '../../../engine/core/api/tool.ts';
import type { Engine } from '../../../engine/index.ts';
import { SVC, type TestWorkspace } from '../workspaces/workspace.ts';

type EngineTool = Extract<Engine['operations']['all'][number], { names: FieldNames }>;

/** Input and output of each tool, by the name that agents use. */
export type ToolApi = {
  [T in EngineTool as T['name'] extends `${infer Module}.${infer Verb}` ? `${Module}_${Verb}` : T['name']]: {
    input: z.input<T['parameters']>;
    output: RenamedFields<NonNullable<T['result']>, T['names']>;
  };
};

type ToolInput<K extends keyof ToolApi> =
  Record<never, never> extends ToolApi[K]['input']
    ? [input?: ToolApi[K]['input'], options?: ToolCallOptions]
    : [input: ToolApi[K]['input'], options?: ToolCallOptions];

interface ToolCallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { message?: string | undefined }) => void;
}

export interface McpClient {
  client: Client;
  /** The bridge's process; null over HTTP. */
  pid: number | null;
  /** Returns the structured result; throws the refusal, which starts with its code. */
  call<K extends keyof ToolApi>(name: K, ...input: ToolInput<K>): Promise<ToolApi[K]['output']>;
  /** Returns the text, which is all that an agent gets; throws a refusal with it. */
  read(name: string, input?: object): Promise<string>;
  /** Does the same as `call` for calls that the compiler would reject, such as a tool of another server. */
  callByName(name: string, input?: object): Promise<unknown>;
  /** Returns the structured content of a refusal. */
  refused(name: string, input?: object): Promise<{ code: string; message: string; hint: string | null }>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

type ClientTransport = StdioClientTransport | StreamableHTTPClientTransport;

/** How a client chooses the revision of the protocol; by default it asks the server. */
export type ClientMode = Extract<VersionNegotiationMode, string> | { pin: string };

/** Creates an MCP client over `transport`. */
export async function mcpClient(transport: ClientTransport, mode: ClientMode = 'auto'): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const callTool = async (name: string, input: object, meta: Record<string, unknown>, options = {}) =>
    (await client.callTool(
      { name, arguments: input as Record<string, unknown>, ...meta },
      { timeout: 60_000, ...options },
    )) as CallToolResult & { structuredContent?: Record<string, unknown> };
  const ask = (name: string, input: object, options = {}) =>
    callTool(name, input, { _meta: { 'svc/structured': true } }, options);
  const callByName = async (name: string, input: object = {}, options = {}): Promise<unknown> => {
    const { isError, structuredContent } = await ask(name, input, options);
    if (isError) throw new Error(`${structuredContent?.code}: ${structuredContent?.message}`);
    return structuredContent;
  };
  return {
    client,
    pid: transport instanceof StdioClientTransport ? transport.pid : null,
    call: (name, ...[input, options]) => callByName(name, input, options) as never,
    callByName,
    async read(name, input = {}) {
      const { isError, content } = await callTool(name, input, {});
      const [{ text } = { text: '' }] = content as { text: string }[];
      if (isError) throw new Error(text);
      return text;
    },
    async refused(name, input = {}) {
      const { isError, structuredContent } = await ask(name, input);
      if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(structuredContent)}`);
      return structuredContent as unknown as { code: string; message: string; hint: string | null };
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

/** Creates an MCP client of `svc mcp`, as agent programs do; by default for the Chair. */
export const stdioClient = (
  ws: Pick<TestWorkspace, 'root' | 'env'>,
  { env = {}, cwd = ws.root, mode }: { env?: Record<string, string>; cwd?: string; mode?: ClientMode } = {},
): Promise<McpClient> =>
  mcpClient(
    new StdioClientTransport({
      command: process.execPath,
      args: [SVC, 'mcp'],
      cwd,
      env: { ...(ws.env as Record<string, string>), ...env },
      stderr: 'inherit',
    }),
    mode,
  );

/** Returns the URL of the running daemon's `/mcp`, and the Chair's token. */
export function mcpEndpoint(ws: Pick<TestWorkspace, 'root'>): { url: URL; token: string } {
  const record = JSON.parse(readFileSync(join(ws.root, '.svc', 'daemon.json'), 'utf8')) as {
    http: { host: string; port: number };
    token: string;
  };
  return { url: new URL(`http://${record.http.host}:${record.http.port}/mcp`), token: record.token };
}

/** Creates an MCP client of the daemon's `/mcp`. */
export function httpClient(
  ws: Pick<TestWorkspace, 'root'>,
  { token, headers = {}, mode }: { token?: string; headers?: Record<string, string>; mode?: ClientMode } = {},
): Promise<McpClient> {
  const endpoint = mcpEndpoint(ws);
  const requestInit = { headers: { authorization: `Bearer ${token ?? endpoint.token}`, ...headers } };
  return mcpClient(new StreamableHTTPClientTransport(endpoint.url, { requestInit }), mode);
}

import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SVC, type TestWorkspace } from '../workspaces/workspace.ts';
import { type ClientMode, httpClient, mcpEndpoint, stdioClient } from './mcp.ts';

/** The official clients: the second version in its three modes, and the first version. */
const EDITIONS: Record<string, ClientMode | null> = {
  'v2 pinned': { pin: '2026-07-28' },
  'v2 auto': 'auto',
  'v2 legacy': 'legacy',
  v1: null,
};

/** The answer to a call of a tool: its result, or the code of its refusal, or the protocol's error. */
export type CallOutcome = { result: unknown } | { refused: string; message: string } | { failed: number };

export interface EditionClient {
  /** Edition and transport. */
  name: string;
  call(tool: string, input: object): Promise<CallOutcome>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

type RawClient = {
  callTool(call: {
    name: string;
    arguments: Record<string, unknown>;
    _meta: Record<string, unknown>;
  }): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
};

interface ToolResult {
  isError?: boolean | undefined;
  structuredContent?: unknown;
}

function wrapClient(name: string, client: RawClient): EditionClient {
  return {
    name,
    async call(tool, input) {
      try {
        const answer = (await client.callTool({
          name: tool,
          arguments: input as Record<string, unknown>,
          _meta: { 'svc/structured': true },
        })) as ToolResult;
        const content = answer.structuredContent;
        if (answer.isError !== true) return { result: content };
        const { code, message } = content as { code: string; message: string };
        return { refused: code, message };
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (typeof code !== 'number') throw error;
        return { failed: code };
      }
    },
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    close: () => client.close(),
  };
}

async function connectFirst(
  ws: Pick<TestWorkspace, 'root' | 'env'>,
  transport: 'stdio' | 'HTTP',
  env: Record<string, string>,
): Promise<FirstClient> {
  const client = new FirstClient({ name: 'test', version: '1' });
  const { url, token } = mcpEndpoint(ws);
  const headers = { authorization: `Bearer ${token}`, ...toHeaders(env) };
  await client.connect(
    (transport === 'stdio'
      ? new FirstStdio({
          command: process.execPath,
          args: [SVC, 'mcp'],
          cwd: ws.root,
          env: { ...(ws.env as Record<string, string>), ...env },
          stderr: 'inherit',
        })
      : new FirstHttp(url, { requestInit: { headers } })) as never,
  );
  return client;
}

const toHeaders = (env: Record<string, string>): Record<string, string> =>
  env.SVC_SESSION === undefined ? {} : { 'x-svc-session': env.SVC_SESSION };

/** Connects each edition over each transport. The engine has to run. */
export async function connectEditions(
  ws: Pick<TestWorkspace, 'root' | 'env'>,
  env: Record<string, string> = {},
): Promise<EditionClient[]> {
  const clients: EditionClient[] = [];
  for (const edition of Object.keys(EDITIONS))
    for (const transport of ['stdio', 'HTTP'] as const)
      clients.push(await connectEdition(ws, `${edition} over ${transport}`, env));
  return clients;
}

/** @param name edition and transport, as `EditionClient.name` */
export async function connectEdition(
  ws: Pick<TestWorkspace, 'root' | 'env'>,
  name: string,
  env: Record<string, string> = {},
): Promise<EditionClient> {
  const [edition = '', transport] = name.split(' over ');
  const mode = EDITIONS[edition] ?? null;
  if (mode === null) return wrapClient(name, await connectFirst(ws, transport as 'stdio' | 'HTTP', env));
  const opened =
    transport === 'stdio'
      ? await stdioClient(ws, { env, mode })
      : await httpClient(ws, { headers: toHeaders(env), mode });
  return wrapClient(name, opened.client);
}

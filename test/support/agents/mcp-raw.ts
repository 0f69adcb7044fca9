import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestWorkspace } from '../workspaces/workspace.ts';
import { mcpEndpoint } from './mcp.ts';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const TASKS = 'io.modelcontextprotocol/tasks';

/** The `_meta` that each request of 2026-07-28 has; `more` replaces parts of it. */
export const envelope = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  [VERSION_KEY]: '2026-07-28',
  [CAPABILITIES_KEY]: {},
  ...more,
});

/** The same for a client that takes handles for calls that wait. */
export const taskEnvelope = (): Record<string, unknown> =>
  envelope({ [CAPABILITIES_KEY]: { extensions: { [TASKS]: {} } } });

export interface RawMessage {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

export interface RawRequest {
  id?: number;
  method: string;
  params?: Record<string, unknown>;
  meta?: Record<string, unknown> | undefined;
  headers?: Record<string, string>;
}

function buildRequest(
  { id = 1, method, params = {}, meta = envelope(), headers = {} }: RawRequest,
  token: string,
): { method: string; path: string; headers: Record<string, string>; body: string } {
  const named = params.name ?? params.uri ?? params.taskId;
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  };
}

/** Opens one request of 2026-07-28 to `/mcp`; the caller reads the answer. */
export function postRequest(ws: Pick<TestWorkspace, 'root'>, request: RawRequest): Promise<Response> {
  const { url, token } = mcpEndpoint(ws);
  return fetch(url, buildRequest(request, token));
}

/** Sends one request and reads its answer; of a stream, the last message. */
export async function askRaw(
  ws: Pick<TestWorkspace, 'root'>,
  request: RawRequest,
): Promise<RawMessage & { status: number }> {
  const response = await postRequest(ws, request);
  const text = await response.text();
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  const json = lines.at(-1)?.slice('data: '.length) ?? text;
  return { status: response.status, ...(JSON.parse(json) as RawMessage) };
}

/** Sends one request over a connection that breaks before its answer is read. */
export async function sendAndLeave(ws: Pick<TestWorkspace, 'root'>, request: RawRequest): Promise<void> {
  const { url, token } = mcpEndpoint(ws);
  const { method, path, headers, body } = buildRequest(request, token);
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${url.host}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  // An earlier reset could discard the request itself.
  await once(socket, 'readable');
  socket.resetAndDestroy();
}

/** Reads the messages of a stream, until `stop` is called or it ends. */
export function readStream(response: Response): { messages: RawMessage[]; stop(): void } {
  const messages: RawMessage[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  async function read(): Promise<void> {
    for (;;) {
      const { done, value = '' } = (await reader?.read()) ?? { done: true };
      // A refusal is one message, and no stream.
      if (done && rest.startsWith('{')) messages.push(JSON.parse(rest) as RawMessage);
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: ')) messages.push(JSON.parse(line.slice('data: '.length)) as RawMessage);
    }
  }
  read().catch(() => undefined);
  return { messages, stop: () => void reader?.cancel().catch(() => undefined) };
}

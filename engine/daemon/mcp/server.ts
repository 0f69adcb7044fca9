import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerContext,
  type Tool,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asSvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { readTraceparent, runInTrace } from '../../core/base/trace-context.ts';
import { callTool, STRUCTURED_KEY } from './call-tool.ts';
import { followResources } from './follow-resources.ts';
import { followTools } from './follow-tools.ts';
import type { EngineLink } from './link.ts';
import { inboxUri, readerOf, TEMPLATES } from './resources.ts';
import { declaresTasks, TASKS_EXTENSION, type WaitingCalls } from './waiting-calls.ts';

/** Code of revisions up to 2025-11-25 for a resource that does not exist; the SDK sends today's to newer clients. */
const RESOURCE_NOT_FOUND = -32002;

/** Well below the minute after which clients abandon a silent call. */
const PROGRESS_EVERY_MS = 10_000;

/** How long a client may use a list that it has read, ms; a change is announced earlier. */
const FRESH_MS = 300_000;

/** Lists and texts depend on the caller's seat, so no cache may share them between callers. */
const OWN_AND_FRESH = { ttlMs: FRESH_MS, cacheScope: 'private' } as const;

export interface McpServerOptions {
  version: string;
  /** The client's identity and first steps; see `readInstructions`. */
  instructions: string;
  /** Gets a line for each call of a client that traces it. */
  log?: Pick<Log, 'info'> | undefined;
  /** The caller's calls that wait with a handle; without it every call waits in its response stream. */
  calls?: WaitingCalls | undefined;
  /** Returns the key of a tool call: the same key again is the same call. */
  nameCall?(id: RequestId): string;
  /** Reports whether a client has sent a request over an earlier connection. */
  isRepeated?(id: RequestId): boolean;
  /** True if the client has had an earlier connection. */
  isResumed?: boolean;
  /** Called for a request that waits for a person or for a worker's end. */
  onWaiting?(id: RequestId): void;
}

/** Creates an MCP server over `link` for one client: translates the engine to the protocol, of either era. */
export function createMcpServer(link: EngineLink, options: McpServerOptions): Server {
  const { version, instructions, nameCall = () => randomUUID(), onWaiting = () => undefined } = options;
  const { isRepeated = () => false, isResumed = false, calls } = options;
  const server = new Server(
    { name: 'svc', title: 'svc', version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        ...(calls === undefined ? {} : { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      instructions,
      cacheHints: {
        'server/discover': OWN_AND_FRESH,
        'tools/list': OWN_AND_FRESH,
        'resources/list': OWN_AND_FRESH,
        'resources/templates/list': OWN_AND_FRESH,
        'resources/read': { ttlMs: 0, cacheScope: 'private' },
      },
      // For answers to questions that a server asks its client; this one asks none.
      jsonSchemaValidator: {
        getValidator() {
          throw new Error('this server never asks its client for input');
        },
      },
    },
  );
  const callOnce = ({ mcpReq: { signal } }: ServerContext) => ({
    key: randomUUID(),
    signal,
    onProgress: () => undefined,
  });

  server.setRequestHandler('tools/list', async (_request, context) => {
    const { tools } = await link.call('tool.list', {}, callOnce(context)).catch(failAsProtocol);
    return { tools: tools as unknown as Tool[] };
  });

  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { id, signal } = context.mcpReq;
    const call = { name: params.name, input: params.arguments ?? {} };
    const key = nameCall(id);
    const stop = new AbortController();
    const stopWith = (): void => stop.abort();
    signal.addEventListener('abort', stopWith);
    const waiting = Promise.withResolvers<string>();
    const told = tellProgress(context);
    const onProgress = (message: string): void => {
      onWaiting(id);
      told.say(message);
      waiting.resolve(message);
    };
    const isStructured = context.mcpReq._meta?.[STRUCTURED_KEY] === true;
    const run = (): Promise<CallToolResult> =>
      callTool(link, call, { key, signal: stop.signal, onProgress, isStructured });
    const trace = readTraceparent(context.mcpReq._meta?.[TRACEPARENT_META_KEY]);
    const result = trace === null ? run() : runInTrace(trace, () => logCall(options.log, call.name, run));
    try {
      if (calls === undefined || !declaresTasks(context.mcpReq.envelope)) return await result;
      const ended = await Promise.race([result, waiting.promise]);
      if (typeof ended !== 'string') return ended;
      const task = await calls.detach({ ...call, key, message: ended }, { result, stop });
      if (task === null) return await result;
      signal.removeEventListener('abort', stopWith);
      return { resultType: 'task', ...task } as unknown as CallToolResult;
    } finally {
      told.end();
    }
  });
  if (calls !== undefined) serveTasks(server, calls);

  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler('resources/list', async () => {
    const session = await link.sessionId();
    const [inbox] = TEMPLATES;
    if (session === null || inbox === undefined) return { resources: [] };
    const { name, title, description, mimeType } = inbox;
    return { resources: [{ uri: inboxUri(session), name, title, description, mimeType }] };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const text = JSON.stringify(await readResource(link, uri, context.mcpReq.signal));
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  });
  // Clients since 2026-07-28 use subscriptions/listen instead.
  const followed = followResources(link, (uri) => {
    void server.sendResourceUpdated({ uri }).catch(() => undefined);
  });
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    // A client that must not read it is not notified either.
    await readResource(link, uri, context.mcpReq.signal);
    await followed.add(uri, isRepeated(context.mcpReq.id));
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    followed.remove(uri);
    return {};
  });
  let tools: ReturnType<typeof followTools> | null = null;
  server.oninitialized = () => {
    tools ??= followTools(link, isResumed, () => void server.sendToolListChanged().catch(() => undefined));
  };
  server.onclose = () => {
    tools?.close();
    followed.close();
  };
  return server;
}

/** Reads a resource. Throws the protocol's error for one that is missing or forbidden. */
export async function readResource(link: EngineLink, uri: string, signal: AbortSignal): Promise<unknown> {
  try {
    const { operation, input } = readerOf(uri);
    return await link.call(operation, input, { key: randomUUID(), signal, onProgress: () => undefined });
  } catch (thrown) {
    const { code, message } = asSvcError(thrown);
    if (code === 'not_found') throw new ProtocolError(RESOURCE_NOT_FOUND, message, { uri, code });
    const isRefused = code === 'holder_mismatch' || code === 'fields_invalid';
    throw new ProtocolError(
      isRefused ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      message,
      {
        uri,
        code,
      },
    );
  }
}

/** Throws an engine's error, such as an unreachable one, in the protocol's form. */
function failAsProtocol(thrown: unknown): never {
  const { code, message } = asSvcError(thrown);
  throw new ProtocolError(ProtocolErrorCode.InternalError, message, { code });
}

/** Logs a call that its client traces, so that the trace can be followed to the engine. */
async function logCall(
  log: Pick<Log, 'info'> | undefined,
  tool: string,
  run: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const begun = performance.now();
  const result = await run();
  const ms = Math.round(performance.now() - begun);
  log?.info({ tool, ms, refused: result.isError === true }, 'a traced call of a tool');
  return result;
}

const taskParams = z.object({ taskId: z.string() });

/** Answers the requests of the tasks extension (SEP-2663), for clients that declare it. */
function serveTasks(server: Server, calls: WaitingCalls): void {
  function checkDeclared(context: ServerContext): void {
    // The method of the same name in 2025-11-25 is about other tasks, which this server does not create.
    if (context.mcpReq.envelope === undefined)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    if (!declaresTasks(context.mcpReq.envelope))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      });
  }
  const unknownTask = (id: string): ProtocolError =>
    new ProtocolError(ProtocolErrorCode.InvalidParams, `no task ${JSON.stringify(id)}`);

  server.setRequestHandler('tasks/get', { params: taskParams }, async ({ taskId }, context) => {
    checkDeclared(context);
    const state = await calls.get(taskId);
    if (state === null) throw unknownTask(taskId);
    return { resultType: 'complete', ...state };
  });
  server.setRequestHandler('tasks/cancel', { params: taskParams }, async ({ taskId }, context) => {
    checkDeclared(context);
    if (!(await calls.cancel(taskId))) throw unknownTask(taskId);
    return { resultType: 'complete' };
  });
  // This server asks for no input, so there is none to take.
  server.setRequestHandler('tasks/update', { params: taskParams }, async ({ taskId }, context) => {
    checkDeclared(context);
    if ((await calls.get(taskId)) === null) throw unknownTask(taskId);
    return { resultType: 'complete' };
  });
}

/** Keeps a waiting call alive: reports the reason first, then the seconds that have passed. */
function tellProgress({ mcpReq: { _meta, notify } }: ServerContext) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { say: () => undefined, end: () => undefined };
  const begun = Date.now();
  let message = 'working';
  let last = 0;
  function sendProgress(): void {
    // It has to grow with every notification.
    last = Math.max(last + 0.001, (Date.now() - begun) / 1000);
    const params = { progressToken: progressToken as string | number, progress: last, message };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }
  const timer = setInterval(sendProgress, PROGRESS_EVERY_MS);
  timer.unref();
  return {
    say(text: string) {
      message = text;
      sendProgress();
    },
    end: () => clearInterval(timer),
  };
}

import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type RequestId,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  type Tool,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { renderWords } from '../../core/api/words.ts';
import { asSvcError, type SvcError } from '../../core/base/errors.ts';
import { followResources } from './follow-resources.ts';
import type { EngineLink } from './link.ts';
import { inboxUri, readerOf, TEMPLATES } from './resources.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** JSON-RPC code of MCP for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002;

/** Well below the minute after which clients abandon a silent call. */
const PROGRESS_EVERY_MS = 10_000;

export interface McpServerOptions {
  version: string;
  /** The client's identity and first steps; see `readInstructions`. */
  instructions: string;
  /** Called for a request that waits for a person or for a worker's end. */
  onWaiting?(id: RequestId): void;
}

/** An MCP server over `link`: translates the engine to the protocol. One per client. */
export function createMcpServer(link: EngineLink, options: McpServerOptions): Server {
  const { version, instructions, onWaiting = () => undefined } = options;
  const server = new Server(
    { name: 'svc', title: 'svc', version },
    { capabilities: { tools: {}, resources: { subscribe: true } }, instructions },
  );
  const callOnce = (extra: Extra) => ({
    key: randomUUID(),
    signal: extra.signal,
    onProgress: () => undefined,
  });

  server.setRequestHandler(ListToolsRequestSchema, async (_request, extra) => {
    const { tools } = await link.call('tool.list', {}, callOnce(extra));
    return { tools: tools as unknown as Tool[] };
  });

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const told = tellProgress(params._meta?.progressToken, extra);
    const onProgress = (message: string): void => {
      onWaiting(extra.requestId);
      told.say(message);
    };
    try {
      const { result, text } = await link.callTool(params.name, params.arguments ?? {}, {
        key: randomUUID(),
        signal: extra.signal,
        onProgress,
      });
      return {
        content: [{ type: 'text', text: text ?? JSON.stringify(result) }],
        structuredContent: result,
      };
    } catch (thrown) {
      const error = asSvcError(thrown);
      // Not a refusal by a tool but a call of an unknown one (MCP, Tools, Error Handling).
      if (error.data.unknownTool === params.name) throw new McpError(ErrorCode.InvalidParams, error.message);
      return buildRefusal(error);
    } finally {
      told.end();
    }
  });

  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler(ListResourcesRequestSchema, async () => {
    const session = await link.sessionId();
    const [inbox] = TEMPLATES;
    if (session === null || inbox === undefined) return { resources: [] };
    const { name, title, description, mimeType } = inbox;
    return { resources: [{ uri: inboxUri(session), name, title, description, mimeType }] };
  });
  /** Throws the protocol's error for a missing or forbidden resource. */
  async function readResource(uri: string, extra: Extra): Promise<unknown> {
    try {
      const { operation, input } = readerOf(uri);
      return await link.call(operation, input, callOnce(extra));
    } catch (thrown) {
      const { code, message } = asSvcError(thrown);
      if (code === 'not_found') throw new McpError(RESOURCE_NOT_FOUND, message, { uri, code });
      const isRefused = code === 'holder_mismatch' || code === 'fields_invalid';
      throw new McpError(isRefused ? ErrorCode.InvalidParams : ErrorCode.InternalError, message, {
        uri,
        code,
      });
    }
  }
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, extra) => ({
    contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(await readResource(uri, extra)) }],
  }));
  const followed = followResources(server, link);
  server.setRequestHandler(SubscribeRequestSchema, async ({ params: { uri } }, extra) => {
    // A client that must not read it is not notified either.
    await readResource(uri, extra);
    await followed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    followed.remove(uri);
    return {};
  });
  server.onclose = followed.close;
  return server;
}

/** A refusal is a result, so that the model reads it and can do something else. */
function buildRefusal({ code, message, hint: said, data }: SvcError): CallToolResult {
  const hint = said === undefined ? undefined : renderWords(said, 'tools');
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}` }],
    structuredContent: { ...data, code, message, hint: hint ?? null },
  };
}

/** Keeps a waiting call alive: reports the reason first, then the seconds that have passed. */
function tellProgress(token: string | number | undefined, extra: Extra) {
  if (token === undefined) return { say: () => undefined, end: () => undefined };
  const begun = Date.now();
  let message = 'working';
  let last = 0;
  function sendProgress(): void {
    // It has to grow with every notification.
    last = Math.max(last + 0.001, (Date.now() - begun) / 1000);
    const params = { progressToken: token as string | number, progress: last, message };
    extra.sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
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

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
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  type Tool,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { asSvcError, type SvcError } from '../../errors.ts';
import { hintForTools } from '../../hints.ts';
import type { ToolDescription } from '../../tool.ts';
import type { EngineLink } from './link.ts';
import { changedBy, inboxUri, readerOf, TEMPLATES } from './resources.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** JSON-RPC code of MCP for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32002;

/** Well below the minute after which clients give a silent call up. */
const PROGRESS_EVERY_MS = 10_000;

/** Some clients show it to their model. */
const INSTRUCTIONS = `svc coordinates coding agents in one workspace. Without SVC_SESSION in your environment you are the Chair: plan \
with task_add (give acceptance criteria), start with task_run, read what comes back with msg_inbox, answer questions with ask_answer; when a \
worker has ended look at verify_status and then bring its work in with worktree_promote. With SVC_SESSION you are that worker session, and \
.svc/TASK_BRIEF.md in your worktree has your task: claim or lock what others share before you edit it, call ask when you are stuck or the \
choice is not yours (it waits for the answer), send messages instead of guessing, and call verify_report after your last commit.`;

/** An MCP server over `link`: what the engine has, in the protocol's words. One per client. */
export function createMcpServer(link: EngineLink, { version }: { version: string }): Server {
  const server = new Server(
    { name: 'svc', title: 'svc', version },
    {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: INSTRUCTIONS,
    },
  );
  const once = (extra: Extra) => ({ key: randomUUID(), signal: extra.signal, onProgress: () => undefined });

  server.setRequestHandler(ListToolsRequestSchema, async (_request, extra) => {
    const { tools } = await link.call<{ tools: ToolDescription[] }>('tool.list', {}, once(extra));
    return { tools: tools as unknown as Tool[] };
  });

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const told = tellProgress(params._meta?.progressToken, extra);
    try {
      const { result, text } = await link.call<{ result: Record<string, unknown>; text: string | null }>(
        'tool.call',
        { name: params.name, arguments: params.arguments ?? {} },
        { key: randomUUID(), signal: extra.signal, onProgress: told.say },
      );
      return { content: [{ type: 'text', text: text ?? JSON.stringify(result) }], structuredContent: result };
    } catch (thrown) {
      const error = asSvcError(thrown);
      // Not a refusal by a tool but a call of something that is none (MCP, Tools, Error Handling).
      if (error.data.unknownTool === params.name) throw new McpError(ErrorCode.InvalidParams, error.message);
      return refusal(error);
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
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, extra) => {
    try {
      const { operation, input } = readerOf(uri);
      const read = await link.call(operation, input, once(extra));
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(read) }] };
    } catch (thrown) {
      const error = asSvcError(thrown);
      if (error.code !== 'not_found') throw new McpError(ErrorCode.InternalError, error.message);
      throw new McpError(RESOURCE_NOT_FOUND, error.message, { uri });
    }
  });
  followResources(server, link);
  return server;
}

/** A refusal is a result, so that the model reads it and can do something else. */
function refusal({ code, message, hint: said, data }: SvcError): CallToolResult {
  const hint = said === undefined ? undefined : hintForTools(said);
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}` }],
    structuredContent: { ...data, code, message, hint: hint ?? null },
  };
}

/** Keeps a call alive that waits: what it waits for at once, then the seconds that have passed. */
function tellProgress(token: string | number | undefined, extra: Extra) {
  if (token === undefined) return { say: () => undefined, end: () => undefined };
  const begun = Date.now();
  let message = 'working';
  let last = 0;
  function send(): void {
    // It has to grow with every notification.
    last = Math.max(last + 0.001, (Date.now() - begun) / 1000);
    const params = { progressToken: token as string | number, progress: last, message };
    extra.sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  }
  const timer = setInterval(send, PROGRESS_EVERY_MS);
  timer.unref();
  return {
    say(text: string) {
      message = text;
      send();
    },
    end: () => clearInterval(timer),
  };
}

function followResources(server: Server, link: EngineLink): void {
  const followed = new Set<string>();
  let stop: (() => void) | null = null;
  function settle(): void {
    if (followed.size === 0) {
      stop?.();
      stop = null;
      return;
    }
    stop ??= link.onEvent((event) => {
      for (const uri of changedBy(event, followed)) {
        server.sendResourceUpdated({ uri }).catch(() => undefined);
      }
    });
  }
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    try {
      readerOf(uri);
    } catch (error) {
      throw new McpError(RESOURCE_NOT_FOUND, asSvcError(error).message, { uri });
    }
    followed.add(uri);
    settle();
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    followed.delete(uri);
    settle();
    return {};
  });
  server.onclose = () => {
    followed.clear();
    settle();
  };
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Engine } from '../../compose.ts';
import { SvcError } from '../../errors.ts';
import { type Caller, toWire, type Wire } from '../../operation.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { EngineLink } from './link.ts';
import { createMcpServer } from './server.ts';

/** Sessions of clients that went away without a word are closed after this long, ms. */
const IDLE_MS = 60 * 60 * 1000;
const MAX_SESSIONS = 256;
const HEADER = 'mcp-session-id';

interface HttpSession {
  transport: StreamableHTTPServerTransport;
  server: Server;
  /** Of whoever opened it: the session's id alone opens nothing. */
  token: string;
  sessionId: string | null;
  requests: number;
  usedAt: number;
}

export interface McpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse, token: string): Promise<void>;
  close(): Promise<void>;
}

/** `/mcp`: streamable HTTP, one MCP server per client session (MCP, Transports, Session Management). */
export function createMcpEndpoint(
  engine: Engine,
  admitted: (request: IncomingMessage, token: string) => Promise<Caller>,
): McpEndpoint {
  const sessions = new Map<string, HttpSession>();

  async function end(id: string): Promise<void> {
    const session = sessions.get(id);
    if (session === undefined) return;
    sessions.delete(id);
    await session.server.close();
    if (session.sessionId !== null) await engine.leave(session.sessionId).catch(() => undefined);
  }

  const timer = setInterval(() => {
    const tooOld = Date.now() - IDLE_MS;
    for (const [id, { usedAt, requests }] of sessions) if (requests === 0 && usedAt < tooOld) void end(id);
  }, IDLE_MS / 60);
  timer.unref();

  async function open(request: IncomingMessage, token: string): Promise<HttpSession> {
    if (sessions.size >= MAX_SESSIONS)
      throw new SvcError('conflict', `${MAX_SESSIONS} clients have a session already`);
    const caller = await admitted(request, token);
    const server = createMcpServer(linkTo(engine, caller), { version: engine.version });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => end(id),
    });
    const session: HttpSession = {
      transport,
      server,
      token,
      sessionId: caller.seat === 'worker' ? null : caller.sessionId,
      requests: 0,
      usedAt: Date.now(),
    };
    await server.connect(transport as never);
    return session;
  }

  return {
    async handle(request, response, token) {
      const id = request.headers[HEADER];
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      const isOurs = known !== undefined && known.token === token;
      if (id !== undefined && !isOurs) {
        // 404 tells a client to begin a new session, also after a restart of the engine.
        answerRpc(response, 404, -32001, 'Session not found');
        return;
      }
      const session = isOurs ? known : await open(request, token);
      session.requests += 1;
      session.usedAt = Date.now();
      if (session.sessionId !== null) engine.seatSeen(session.sessionId);
      response.once('close', () => {
        session.requests -= 1;
        session.usedAt = Date.now();
        // What was no initialize has left a server behind that nobody can reach.
        if (session.transport.sessionId === undefined) void session.server.close();
      });
      await session.transport.handleRequest(request, response);
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

function answerRpc(response: ServerResponse, status: number, code: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

/** The engine of this very process. */
function linkTo(engine: Engine, caller: Caller): EngineLink {
  return {
    call: <T>(
      operation: string,
      input: object,
      { key, signal, onProgress }: Parameters<EngineLink['call']>[2],
    ) =>
      engine.operations.call(operation, input, caller, { key, signal, progress: onProgress }) as Promise<T>,
    onEvent(listener) {
      let cursor = engine.events.lastSeq();
      return engine.onCommit(() => {
        for (const event of engine.events.after(cursor)) {
          cursor = event.seq;
          listener(toWire(event) as Wire<LoggedEvent>);
        }
      });
    },
    sessionId: async () => caller.sessionId,
  };
}

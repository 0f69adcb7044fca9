import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { type Caller, toWire, type WireValue } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Engine } from '../compose/compose.ts';
import { readInstructions } from './instructions.ts';
import type { EngineLink } from './link.ts';
import { type RpcRefusal, readRpcMessage, rpcRefusal } from './message.ts';
import { createMcpServer } from './server.ts';

/** Sessions of clients that disappeared are closed after this long, ms. */
const IDLE_MS = 60 * 60 * 1000;
const MAX_SESSIONS = 256;
const MAX_BEGINNING_BYTES = 1024 * 1024;
/** A prompt may have four million characters. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const HEADER = 'mcp-session-id';
const METHODS = ['GET', 'POST', 'DELETE'];

interface HttpSession {
  transport: StreamableHTTPServerTransport;
  server: Server;
  /** The owner: the session's id alone grants no access. */
  token: string;
  sessionId: string | null;
  /** Ends its participation. */
  depart(): void;
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
  /** Clients that are being admitted. */
  let opening = 0;

  /** Never rejects: a client that has gone is not an error. */
  async function closeSession({ server, sessionId, depart }: HttpSession): Promise<void> {
    await server.close().catch(() => undefined);
    depart();
    if (sessionId === null || engine.seatHolders(sessionId) > 0) return;
    await engine.leave(sessionId).catch(() => undefined);
  }

  async function endSession(id: string): Promise<void> {
    const session = sessions.get(id);
    if (session === undefined) return;
    sessions.delete(id);
    await closeSession(session);
  }

  const timer = setInterval(() => {
    const tooOld = Date.now() - IDLE_MS;
    for (const [id, { usedAt, requests }] of sessions)
      if (requests === 0 && usedAt < tooOld) void endSession(id);
  }, IDLE_MS / 60);
  timer.unref();

  /** Clients restart without closing: the least recently used session makes room, unless something waits in it. */
  function makeRoom(): void {
    if (sessions.size + opening < MAX_SESSIONS) return;
    const idle = [...sessions]
      .filter(([, { requests }]) => requests === 0)
      .sort(([, one], [, other]) => one.usedAt - other.usedAt);
    const [oldest] = idle;
    if (oldest === undefined)
      throw new SvcError('conflict', `${MAX_SESSIONS} clients already have a session`);
    void endSession(oldest[0]);
  }

  async function openSession(request: IncomingMessage, token: string): Promise<HttpSession> {
    makeRoom();
    opening += 1;
    try {
      return await startSession(request, token);
    } finally {
      opening -= 1;
    }
  }

  async function startSession(request: IncomingMessage, token: string): Promise<HttpSession> {
    const caller = await admitted(request, token);
    const link = linkTo(engine, caller);
    const server = createMcpServer(link, {
      version: engine.version,
      instructions: await readInstructions(link),
    });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => endSession(id),
    });
    const sessionId = caller.seat === 'worker' ? null : caller.sessionId;
    const session: HttpSession = {
      transport,
      server,
      token,
      sessionId,
      depart: sessionId === null ? () => undefined : engine.holdSeat(sessionId),
      requests: 0,
      usedAt: Date.now(),
    };
    await server.connect(transport as never);
    return session;
  }

  return {
    async handle(request, response, token) {
      if (!METHODS.includes(request.method ?? '')) {
        response.setHeader('allow', METHODS.join(', '));
        throw new SvcError('method_not_allowed', `only ${METHODS.join(', ')} are answered here`);
      }
      const id = request.headers[HEADER];
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      const isOurs = known !== undefined && known.token === token;
      if (id !== undefined && !isOurs) {
        // 404 makes a client start a new session, also after a restart of the engine.
        answerRpc(response, 404, rpcRefusal(-32001, 'Session not found'));
        return;
      }
      const read = request.method === 'POST' ? await messageIn(request, isOurs) : null;
      if (read !== null && 'refusal' in read) {
        answerRpc(response, 400, read.refusal);
        return;
      }
      const body = read !== null && 'message' in read ? read.message : undefined;
      // A request that does not start a session gets none, nor a place on the register.
      if (!isOurs && !isInitializeRequest(body)) {
        answerRpc(response, 400, rpcRefusal(-32000, 'Bad Request: a session starts with initialize'));
        return;
      }
      if (read !== null && body === undefined) {
        // A malformed response is accepted and ignored.
        response.writeHead(202).end();
        return;
      }
      const session = isOurs ? known : await openSession(request, token);
      session.requests += 1;
      session.usedAt = Date.now();
      if (session.sessionId !== null) engine.seatSeen(session.sessionId);
      response.once('close', () => {
        session.requests -= 1;
        session.usedAt = Date.now();
        // A failed initialize has left an unreachable server behind.
        if (session.transport.sessionId === undefined) void closeSession(session);
      });
      await session.transport.handleRequest(request, response, body);
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.keys()].map(endSession));
    },
  };
}

/** Reads a client's posted message. Throws `body_too_large`. @param isOurs whether its session is known */
async function messageIn(
  request: IncomingMessage,
  isOurs: boolean,
): Promise<ReturnType<typeof readRpcMessage>> {
  const most = isOurs ? MAX_BODY_BYTES : MAX_BEGINNING_BYTES;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > most)
      throw new SvcError(
        'body_too_large',
        isOurs ? 'a message has at most 16 MiB' : 'a request that starts a session has at most 1 MiB',
      );
    chunks.push(chunk);
  }
  return readRpcMessage(Buffer.concat(chunks).toString('utf8'));
}

function answerRpc(response: ServerResponse, status: number, refusal: RpcRefusal): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(refusal));
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
    callTool: (name, input, { key, signal, onProgress }) =>
      engine.callTool(name, input, caller, { key, signal, progress: onProgress }),
    onEvent(listener) {
      let cursor = engine.events.lastSeq();
      const stop = engine.onCommit(() => {
        for (
          let events = engine.events.listAfter(cursor);
          events.length > 0;
          events = engine.events.listAfter(cursor)
        )
          for (const event of events) {
            cursor = event.seq;
            listener(toWire(event) as WireValue<LoggedEvent>);
          }
      });
      return { begun: Promise.resolve(), stop };
    },
    sessionId: async () => caller.sessionId,
  };
}

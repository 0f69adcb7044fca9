import type { IncomingMessage, ServerResponse } from 'node:http';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { Engine } from '../compose/compose.ts';
import { createHttpSessions } from './http-sessions.ts';
import { type RpcRefusal, readRpcMessage, rpcRefusal } from './message.ts';

const MAX_BEGINNING_BYTES = 1024 * 1024;
/** A prompt may have four million characters. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const HEADER = 'mcp-session-id';
const METHODS = ['GET', 'POST', 'DELETE'];

export interface McpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse, token: string): Promise<void>;
  close(): Promise<void>;
}

/** `/mcp`: streamable HTTP, one MCP server per client session (MCP, Transports, Session Management). */
export function createMcpEndpoint(
  engine: Engine,
  admitted: (request: IncomingMessage, token: string) => Promise<Caller>,
): McpEndpoint {
  const sessions = createHttpSessions(engine, admitted);

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
      const session = isOurs ? known : await sessions.open(request, token);
      session.requests += 1;
      session.usedAt = Date.now();
      if (session.sessionId !== null) engine.seatSeen(session.sessionId);
      response.once('close', () => {
        session.requests -= 1;
        session.usedAt = Date.now();
        // A failed initialize has left an unreachable server behind.
        if (session.transport.sessionId === undefined) void sessions.discard(session);
      });
      await session.transport.handleRequest(request, response, body);
    },
    close: sessions.close,
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

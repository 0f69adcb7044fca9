import type { IncomingMessage, ServerResponse } from 'node:http';
import { isInitializeRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { SvcError } from '../../core/base/errors.ts';
import { isJsonObject } from '../../core/base/json-object.ts';
import { noteCallerSeen } from '../admit.ts';
import { createHttpCallers } from './http-callers.ts';
import { createHttpRequests } from './http-requests.ts';
import { createHttpSessions } from './http-sessions.ts';
import { type ClientMessage, type RpcRefusal, readRpcMessage, rpcRefusal } from './message.ts';
import { createRepeatedCalls } from './repeated-calls.ts';
import type { McpService } from './service.ts';

/** A prompt may have four million characters. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const SESSION_HEADER = 'mcp-session-id';
const METHODS = ['GET', 'POST', 'DELETE'];
/** The first revision without sessions: each of its requests names its version. */
const FIRST_WITHOUT_SESSIONS = '2026-07-28';

export interface McpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse, token: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * `/mcp`: streamable HTTP for both eras of the protocol. A request of a revision since 2026-07-28 stands alone; clients
 * of earlier ones get a session each (MCP 2025-11-25, Transports, Session Management).
 */
export function createMcpEndpoint(
  service: McpService,
  isChairToken: (token: string) => boolean,
): McpEndpoint {
  const { engine } = service;
  const callers = createHttpCallers(engine, isChairToken);
  const sessions = createHttpSessions(service, callers.admitSession);
  const repeats = createRepeatedCalls(engine);
  const requests = createHttpRequests(service, repeats);

  async function serveAlone(
    request: IncomingMessage,
    response: ServerResponse,
    token: string,
    message: ClientMessage,
  ): Promise<void> {
    const caller = await callers.admitRequest(request, token);
    response.once('close', caller.endRequest);
    if (response.closed) caller.endRequest();
    await requests.serve(request, response, caller, message);
  }

  async function serveInSession(
    request: IncomingMessage,
    response: ServerResponse,
    token: string,
    message: ClientMessage | undefined,
  ): Promise<void> {
    const id = request.headers[SESSION_HEADER];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    const isOurs = known !== undefined && known.token === token;
    if (id !== undefined && !isOurs) {
      // 404 makes a client start a new session, also after a restart of the engine.
      answerRpc(response, 404, rpcRefusal(-32001, 'Session not found'));
      return;
    }
    // A request that does not start a session gets none, nor a place on the register.
    if (!isOurs && !isInitializeRequest(message)) {
      answerRpc(response, 400, rpcRefusal(-32000, 'Bad Request: a session starts with initialize'));
      return;
    }
    const session = isOurs ? known : await sessions.open(request, token);
    const endRequest = sessions.beginRequest(session);
    noteCallerSeen(engine, session.caller);
    response.once('close', () => {
      endRequest();
      // A failed initialize has left an unreachable server behind.
      if (session.transport.sessionId === undefined) void sessions.discard(session);
    });
    if (message?.method === 'tools/call' && 'id' in message)
      session.keys.set(message.id, await repeats.begin(session, message, response, { isOfSession: true }));
    await session.transport.handleRequest(request, response, message);
  }

  return {
    async handle(request, response, token) {
      if (!METHODS.includes(request.method ?? '')) {
        response.setHeader('allow', METHODS.join(', '));
        throw new SvcError('method_not_allowed', `only ${METHODS.join(', ')} are answered here`);
      }
      const read = request.method === 'POST' ? readRpcMessage(await readBody(request)) : null;
      if (read !== null && 'refusal' in read) return answerRpc(response, 400, read.refusal);
      if (read !== null && 'ignored' in read) return void response.writeHead(202).end();
      const message = read?.message;
      if (message !== undefined && isWithoutSession(request, message))
        return serveAlone(request, response, token, message);
      return serveInSession(request, response, token, message);
    },
    async close() {
      await Promise.all([requests.close(), sessions.close()]);
      await callers.close();
    },
  };
}

/** Reports whether a message names a revision without sessions, in its envelope or its header. */
function isWithoutSession({ headers }: IncomingMessage, { method, params }: ClientMessage): boolean {
  const meta = isJsonObject(params) && isJsonObject(params._meta) ? params._meta : {};
  const version = headers['mcp-protocol-version'];
  const namesOne = typeof version === 'string' && version.trim() >= FIRST_WITHOUT_SESSIONS;
  // Clients of earlier revisions may send an envelope with their first request, to find out the era.
  if (method === 'initialize' && !namesOne) return false;
  return namesOne || PROTOCOL_VERSION_META_KEY in meta;
}

/** Reads the body of a request. Throws `body_too_large`. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const tooLargeError = () => new SvcError('body_too_large', 'a message has at most 16 MiB');
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    // A client reads the answer only after it has sent its body, unless that has no end.
    else if (length > 2 * MAX_BODY_BYTES) throw tooLargeError();
  }
  if (length > MAX_BODY_BYTES) throw tooLargeError();
  return Buffer.concat(chunks).toString('utf8');
}

function answerRpc(response: ServerResponse, status: number, refusal: RpcRefusal): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(refusal));
}

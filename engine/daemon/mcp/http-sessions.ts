import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import type { RequestId, Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/api/operation.ts';
import type { HttpCaller } from './http-callers.ts';
import { type ClientUse, createIdleClients } from './idle-clients.ts';
import { readInstructions } from './instructions.ts';
import { createMcpServer } from './server.ts';
import type { McpService } from './service.ts';

const MAX_SESSIONS = 256;

interface HttpSession extends ClientUse {
  transport: NodeStreamableHTTPServerTransport;
  server: Server;
  /** The owner: the session's id alone grants no access. */
  token: string;
  caller: Caller;
  identity: string;
  leave: HttpCaller['leave'];
  /** The keys of requests that are being answered. */
  keys: Map<RequestId, string>;
}

/** The sessions of clients of revisions up to 2025-11-25, each with its server. */
export function createHttpSessions(
  { engine, serveCaller }: McpService,
  admit: (request: IncomingMessage, token: string) => Promise<HttpCaller>,
) {
  /** Clients that are being admitted. */
  let opening = 0;

  async function closeSession({ server, leave }: HttpSession): Promise<void> {
    await server.close().catch(() => undefined);
    await leave();
  }

  const idle = createIdleClients<HttpSession>({
    most: MAX_SESSIONS,
    end: closeSession,
    refusal: `${MAX_SESSIONS} clients already have a session`,
  });
  const sessions = idle.clients;

  async function openSession(request: IncomingMessage, token: string): Promise<HttpSession> {
    idle.makeRoom(opening);
    opening += 1;
    try {
      return await startSession(request, token);
    } finally {
      opening -= 1;
    }
  }

  async function startSession(request: IncomingMessage, token: string): Promise<HttpSession> {
    const { caller, identity, leave } = await admit(request, token);
    const keys: HttpSession['keys'] = new Map();
    const { link } = serveCaller(caller);
    const server = createMcpServer(link, {
      version: engine.version,
      instructions: await readInstructions(link, 'legacy'),
      nameCall(id) {
        const key = keys.get(id) ?? randomUUID();
        keys.delete(id);
        return key;
      },
      log: engine.log,
    });
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: idle.forget,
    });
    const session: HttpSession = {
      transport,
      server,
      token,
      caller,
      identity,
      leave,
      keys,
      requests: 0,
      usedAt: Date.now(),
    };
    await server.connect(transport);
    return session;
  }

  return {
    get: (id: string): HttpSession | undefined => sessions.get(id),
    open: openSession,
    /** Closes a session that has got no id. */
    discard: closeSession,
    beginRequest: idle.beginRequest,
    close: idle.close,
  };
}

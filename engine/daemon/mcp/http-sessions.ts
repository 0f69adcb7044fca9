import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import type { RequestId, Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { HttpCaller } from './http-callers.ts';
import { readInstructions } from './instructions.ts';
import { createMcpServer } from './server.ts';
import type { McpService } from './service.ts';

/** Sessions of clients that disappeared are closed after this long, ms. */
const IDLE_MS = 60 * 60 * 1000;
const MAX_SESSIONS = 256;

interface HttpSession {
  transport: NodeStreamableHTTPServerTransport;
  server: Server;
  /** The owner: the session's id alone grants no access. */
  token: string;
  sessionId: string | null;
  caller: Caller;
  identity: string;
  leave: HttpCaller['leave'];
  /** The keys of requests that are being answered. */
  keys: Map<RequestId, string>;
  requests: number;
  usedAt: number;
}

/** The sessions of clients of revisions up to 2025-11-25, each with its server. */
export function createHttpSessions(
  { engine, serveCaller }: McpService,
  admit: (request: IncomingMessage, token: string) => Promise<HttpCaller>,
) {
  const sessions = new Map<string, HttpSession>();
  /** Clients that are being admitted. */
  let opening = 0;

  async function closeSession({ server, leave }: HttpSession): Promise<void> {
    await server.close().catch(() => undefined);
    await leave();
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
      onsessionclosed: (id) => endSession(id),
    });
    const session: HttpSession = {
      transport,
      server,
      token,
      sessionId: caller.seat === 'worker' ? null : caller.sessionId,
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
    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.all([...sessions.keys()].map(endSession));
    },
  };
}

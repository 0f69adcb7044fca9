import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { type Caller, toWire, type WireValue } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Engine } from '../compose/compose.ts';
import { readInstructions } from './instructions.ts';
import type { EngineLink } from './link.ts';
import { createMcpServer } from './server.ts';

/** Sessions of clients that disappeared are closed after this long, ms. */
const IDLE_MS = 60 * 60 * 1000;
const MAX_SESSIONS = 256;

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

/** The MCP sessions of clients, each with its server. */
export function createHttpSessions(
  engine: Engine,
  admitted: (request: IncomingMessage, token: string) => Promise<Caller>,
) {
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

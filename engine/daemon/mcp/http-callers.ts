import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller } from '../../core/api/operation.ts';
import { accountName } from '../../core/base/account.ts';
import { admitCaller, noteCallerSeen } from '../admit.ts';
import type { Engine } from '../compose/compose.ts';
import { type ClientUse, createIdleClients } from './idle-clients.ts';

const MAX_CALLERS = 256;

/** A client of `/mcp`, over any number of connections. */
export interface HttpCaller {
  caller: Caller;
  /** Names it among the clients of this engine; the same after a restart of the engine. */
  identity: string;
  /** Ends its participation. Never rejects: a client that has gone is not an error. */
  leave(): Promise<void>;
}

interface KnownCaller extends ClientUse {
  client: Client;
  admitted: Promise<HttpCaller>;
}

type Client = Awaited<ReturnType<Engine['identifyClient']>>;

const readHeader = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/**
 * The clients of `/mcp`. A run's mark is that worker's token. The daemon's token only grants access: the seat is
 * determined by the processes that hold the connection, as on the socket, and an unknown process is never the Chair.
 * `X-Svc-Session` and `X-Svc-Agent` correspond to `SVC_SESSION` and `SVC_AGENT` elsewhere; `X-Svc-Cwd` is the folder
 * that determines the project.
 */
export function createHttpCallers(engine: Engine, isChairToken: (token: string) => boolean) {
  const clients = new WeakMap<Socket, Promise<Client>>();

  function identifyClient({ socket }: IncomingMessage): Promise<Client> {
    const client = clients.get(socket) ?? engine.identifyClient(socket);
    clients.set(socket, client);
    return client;
  }

  async function admit(request: IncomingMessage, token: string, client: Client): Promise<HttpCaller> {
    const caller = await admitCaller(engine, {
      standing: client.standing,
      // Its process may contain several clients, so it does not hold the seat.
      holder: null,
      runId: isChairToken(token) ? null : token,
      actor: accountName(),
      via: 'tool',
      cwd: readHeader(request, 'x-svc-cwd') ?? null,
      env: {
        SVC_SESSION: readHeader(request, 'x-svc-session'),
        SVC_AGENT: readHeader(request, 'x-svc-agent'),
      },
      attends: true,
    });
    const sessionId = caller.seat === 'worker' ? null : caller.sessionId;
    const depart = sessionId === null ? () => undefined : engine.holdSeat(sessionId);
    return {
      caller,
      identity: JSON.stringify([client.owners, caller.seat, ...describeClaims(request)]),
      async leave() {
        depart();
        if (sessionId === null || engine.seatHolders(sessionId) > 0) return;
        await engine.leave(sessionId).catch(() => undefined);
      },
    };
  }

  const idle = createIdleClients<KnownCaller>({
    most: MAX_CALLERS,
    // Requests of a process end without a farewell.
    hasGone: ({ client: { owners } }) =>
      owners.length > 0 && owners.every(({ pid, pidStart }) => engine.startOf(pid) !== pidStart),
    end: ({ admitted }) => admitted.then(({ leave }) => leave()).catch(() => undefined),
    refusal: `${MAX_CALLERS} clients are already served`,
  });
  const known = idle.clients;

  return {
    /** Admits a client for a separate session, which ends with `leave`. */
    async admitSession(request: IncomingMessage, token: string): Promise<HttpCaller> {
      return admit(request, token, await identifyClient(request));
    },
    /** Admits the client of one request: all requests of a process, with the same claims, are from one caller. */
    async admitRequest(
      request: IncomingMessage,
      token: string,
    ): Promise<HttpCaller & { endRequest(): void }> {
      const client = await identifyClient(request);
      const key = JSON.stringify([token, client, ...describeClaims(request)]);
      let entry = known.get(key);
      if (entry === undefined) {
        idle.makeRoom();
        const opened = { client, admitted: admit(request, token, client), requests: 0, usedAt: 0 };
        opened.admitted.catch(() => known.get(key) === opened && known.delete(key));
        known.set(key, opened);
        entry = opened;
      }
      const endRequest = idle.beginRequest(entry);
      try {
        const admitted = await entry.admitted;
        noteCallerSeen(engine, admitted.caller);
        return { ...admitted, endRequest };
      } catch (error) {
        endRequest();
        throw error;
      }
    },
    close: idle.close,
  };
}

const describeClaims = (request: IncomingMessage): (string | null)[] =>
  ['x-svc-session', 'x-svc-agent', 'x-svc-cwd'].map((name) => readHeader(request, name) ?? null);

import { chmodSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { asSvcError, type SvcError } from '../core/base/errors.ts';
import { listenOn } from '../core/http/listen.ts';
import { createLimitedServer } from '../core/http/server.ts';
import { releaseIdleMemory } from '../core/platform/idle-memory.ts';
import { findAdminSocket } from './admin-socket.ts';
import { answerAdmin } from './answer-admin.ts';
import type { ServerOptions } from './create-parts.ts';
import { holdServerFolder } from './database/open.ts';
import { addSecurityHeaders, answerUnreadable } from './http/answer-headers.ts';
import { makeServerApp } from './http/app.tsx';
import type { ServerParts } from './http/context.ts';
import type { ServerSettings } from './http/settings.ts';
import { type OpenParts, ORIGIN_KEY, openParts } from './open-parts.ts';

/** Time limit for requests in progress when a server is stopped, ms. */
const CLOSING_MS = 10_000;
const IDLE_LOOK_MS = 50;

/** A listening server. */
export interface RunningServer {
  /** Its public address. */
  url: string;
  host: string;
  port: number;
  /** The display name of the database. */
  database: string;
  /** The dependencies of its routes. */
  parts: ServerParts;
  /** Resolves when another server has taken the database, or its disk has failed: this one has to be closed. */
  lost: Promise<SvcError>;
  /** Ends requests in progress within ten seconds. */
  close(): Promise<void>;
}

/** Starts a server. Throws `already_running`, `address_in_use`, `key_mismatch`, `storage_newer`. */
export async function startServer(options: ServerOptions, settings: ServerSettings): Promise<RunningServer> {
  const { folder, log } = options;
  const socket = findAdminSocket(folder);
  const lock = holdServerFolder(folder);
  const admin = createServer();
  const server = createLimitedServer({
    headersMs: 10_000,
    requestMs: 60_000,
    idleMs: 65_000,
    connections: 2000,
    // So that its answer has the same headers as all others.
    requiresHost: false,
  });
  // Requests of both wait while the database is being opened.
  const [answerCommands, answerRequests] = [holdRequests(admin), holdRequests(server)];
  let opened: OpenParts | undefined;
  async function open(): Promise<{ origin: string; port: number; opened: OpenParts }> {
    // A socket of a killed server, since no other one has the lock.
    rmSync(socket, { force: true });
    // Before the port: a command without a socket opens the database itself, and one of the two fails.
    await listenOn(admin, { path: socket });
    // Anyone who may write to it is obeyed, and the folder may have existed before.
    chmodSync(socket, 0o600);
    await listenOn(server, { host: settings.host, port: settings.port });
    const { port } = server.address() as AddressInfo;
    const shown = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
    const origin = settings.publicUrl?.origin ?? `http://${shown}:${port}`;
    addSecurityHeaders(server, origin);
    opened = await openParts(options, { ...settings, origin }, lock);
    await opened.parts.db
      .insertInto('meta')
      .values({ key: ORIGIN_KEY, value: origin })
      .onConflict((same) => same.column('key').doUpdateSet({ value: origin }))
      .execute();
    await opened.parts.firstRun.offer();
    return { origin, port, opened };
  }
  const {
    origin,
    port,
    opened: { parts, database, lost, close: closeParts },
  } = await open().catch(async (error: unknown) => {
    for (const each of [server, admin]) {
      each.close();
      each.closeAllConnections();
    }
    await opened?.close();
    lock.release();
    throw error;
  });
  answerCommands((request, response) => void answerAdmin(parts, request, response));
  answerRequests(getRequestListener(makeServerApp(parts).fetch, { errorHandler: answerUnreadable }));
  parts.deliveries.start();
  parts.retention.start();
  void parts.chats
    .start()
    .catch((thrown: unknown) =>
      log.error({ error: asSvcError(thrown).message }, 'the chats were not started'),
    );
  if (settings.publicUrl?.protocol === 'https:' && !settings.hasTrustedProxy)
    log.warn(
      {},
      'no proxy is trusted, so all clients behind the one in front count as one: --trust-proxy names it',
    );
  log.info({ url: origin, host: settings.host, port, database }, 'server open');
  const idleMemory = releaseIdleMemory({ collect: globalThis.gc });
  let closing: Promise<void> | undefined;
  return {
    url: origin,
    host: settings.host,
    port,
    database,
    parts,
    lost,
    close() {
      closing ??= (async () => {
        idleMemory.close();
        parts.polls.close();
        await Promise.all([closeServer(server), closeServer(admin)]);
        rmSync(socket, { force: true });
        await closeParts();
        log.info({}, 'server closed');
      })();
      return closing;
    },
  };
}

/** Lets requests wait until the returned function has what answers them. */
function holdRequests(server: Server): (answer: RequestListener) => void {
  const early: Parameters<RequestListener>[] = [];
  const wait: RequestListener = (...given) => void early.push(given);
  server.on('request', wait);
  return (answer) => {
    server.off('request', wait).on('request', answer);
    for (const given of early) void answer(...given);
  };
}

/** Accepts no more connections, and cuts open ones after a while. */
function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cutting = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
  // A connection stays open for the next request right after its last answer.
  const idling = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
  server.close(() => {
    clearTimeout(cutting);
    clearInterval(idling);
    resolve();
  });
  server.closeIdleConnections();
  return promise;
}

import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Clock, systemClock } from '../base/clock.ts';
import { asSvcError, type SvcError } from '../base/errors.ts';
import { releaseIdleMemory } from '../base/idle-memory.ts';
import type { Log } from '../base/log.ts';
import { listenOn } from '../http/listen.ts';
import { createLimitedServer } from '../http/server.ts';
import { findAdminSocket } from './admin-socket.ts';
import { administer, METRICS_TOKEN_KEY } from './administer.ts';
import { answerAdmin } from './answer-admin.ts';
import { createChats } from './chats/index.ts';
import { openServerDatabase, readDatabaseUrl } from './database/open.ts';
import { createAddressGuard } from './deliveries/address-guard.ts';
import { createDeliveries } from './deliveries/index.ts';
import { createTargets } from './deliveries/targets.ts';
import { makeServerApp } from './http/app.tsx';
import type { ServerParts } from './http/context.ts';
import { answerUnreadable, guardEarlyAnswers } from './http/early-answers.ts';
import { listSecurityHeaders } from './http/guards.ts';
import { type ServerSettings, SLACK_API, TELEGRAM_API } from './http/settings.ts';
import { createServerRetention } from './keeping/retention.ts';
import { createCommands } from './links/commands.ts';
import { createWorkspaceEvents } from './links/events.ts';
import type { DecisionFollower } from './links/follower.ts';
import { createPendingDecisions } from './links/pending.ts';
import { createPolls } from './links/polls.ts';
import { createStopWorkspaces } from './links/stop-workspaces.ts';
import { createUsage } from './links/usage.ts';
import { createUsedSignatures } from './links/used-signatures.ts';
import { createWorkspaces } from './links/workspaces.ts';
import { createDeviceRequests } from './login/device-requests.ts';
import { createMachines } from './login/machines.ts';
import { createChangeLog } from './people/changes.ts';
import { createFailureCounter } from './people/failures.ts';
import { createFirstRun } from './people/first-run.ts';
import { createPasswords, type PasswordCost } from './people/passwords.ts';
import { createPeople } from './people/people.ts';
import { createLeaseIssuer } from './plans/leases.ts';
import { createPlans } from './plans/plans.ts';
import { createSealer } from './sealing.ts';
import { checkRootSecret, loadRootSecret, SEALING } from './secrets.ts';

/** What is under way when a server is told to stop has so long, ms. */
const CLOSING_MS = 10_000;
const IDLE_LOOK_MS = 50;

export interface ServerOptions {
  /** Its data folder, which exists. */
  folder: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  clock?: Clock;
  /** What a password costs whoever guesses. */
  passwordCost?: PasswordCost;
  /** How names of targets are looked up. */
  lookup?: LookupFunction;
  /** The code of a server that nobody has set up, and the file that holds it. */
  tellSetupCode?(code: string, file: string): void;
  /** The file of a root secret that was made just now. */
  tellNewSecret?(file: string): void;
}

/** A server that listens. */
export interface RunningServer {
  /** How people reach it. */
  url: string;
  host: string;
  port: number;
  /** The database, for people. */
  database: string;
  /** What its routes stand on. */
  parts: ServerParts;
  /** Resolves when another server has taken the database: this one is to be closed. */
  lost: Promise<SvcError>;
  /** Ends what is under way within ten seconds. */
  close(): Promise<void>;
}

interface OpenParts {
  parts: ServerParts;
  database: string;
  lost: Promise<SvcError>;
  close(): Promise<void>;
}

/** How the server is reached, and what it may reach. */
interface Reach
  extends Pick<ServerSettings, 'isTrustedProxy' | 'isAllowedTarget' | 'telegramApi' | 'slackApi'> {
  origin: string;
}

/** Opens the database and everything that stands on it. */
async function openParts(
  {
    folder,
    env,
    log,
    clock = systemClock,
    passwordCost,
    lookup,
    tellSetupCode,
    tellNewSecret,
  }: ServerOptions,
  { origin, isTrustedProxy, isAllowedTarget, telegramApi, slackApi }: Reach,
): Promise<OpenParts> {
  const database = await openServerDatabase(folder, readDatabaseUrl(env));
  try {
    const { db } = database;
    const loaded = loadRootSecret(folder, env);
    const secret = await checkRootSecret(db, loaded, folder);
    if (loaded.madeFile !== null) tellNewSecret?.(loaded.madeFile);
    const changes = createChangeLog({ db, clock });
    const passwords = createPasswords(passwordCost);
    const plans = createPlans({
      db,
      changes,
      async onChanged(accounts) {
        for (const account of accounts) await commands.giveRefresh(account);
        deliveries.wake();
        chats.wake();
      },
    });
    // What follows from these in chats is made after them, since chats ask them.
    const follower: DecisionFollower = {
      followDecisions: (...given) => chats.followDecisions(...given),
      wake: () => chats.wake(),
    };
    const polls = createPolls(clock);
    const stopWorkspaces = createStopWorkspaces({ follower, polls });
    const people = createPeople({ db, clock, changes, passwords, plans, stopWorkspaces });
    const firstRun = createFirstRun({
      db,
      people,
      folder,
      tell: (code, file) => tellSetupCode?.(code, file),
    });
    const commands = createCommands({
      db,
      clock,
      changes,
      onGiven: polls.tell,
      onChanged: (workspace, decision) => chats.followCommand(workspace, decision),
    });
    const failures = createFailureCounter({ db, clock });
    const sealer = createSealer(secret.deriveKey(SEALING));
    const pending = createPendingDecisions({ db, follower });
    const workspaces = createWorkspaces({
      db,
      clock,
      log,
      changes,
      plans,
      follower,
      tokenChanges: database.tokenChanges,
    });
    const chats = await createChats({
      db,
      clock,
      log,
      changes,
      plans,
      failures,
      sealer,
      links: { pending, commands, polls, workspaces },
      reach: { origin, telegramApi, slackApi, env },
    });
    const guard = createAddressGuard({
      isAllowed: isAllowedTarget,
      ...(lookup === undefined ? {} : { lookup }),
    });
    const targets = createTargets({
      db,
      clock,
      changes,
      plans,
      sealer,
      guard,
      wake: () => deliveries.wake(),
    });
    const deliveries = await createDeliveries({ db, clock, log, plans, guard, openTarget: targets.open });
    const signatures = createUsedSignatures({ db, clock });
    const retention = createServerRetention({
      db,
      clock,
      log,
      failures,
      signatures,
      wake() {
        deliveries.wake();
        chats.wake();
      },
    });
    const parts: ServerParts = {
      db,
      clock,
      log,
      people,
      passwords,
      firstRun,
      changes,
      failures,
      devices: createDeviceRequests({ db, clock, changes }),
      machines: createMachines({ db, clock, changes, stopWorkspaces }),
      workspaces,
      events: createWorkspaceEvents({ db, clock, deliveries, chats, origin }),
      pending,
      chats,
      commands,
      signatures,
      polls,
      usage: createUsage({ db, clock, changes }),
      plans,
      leases: createLeaseIssuer({ db, clock, plans, leaseKey: secret.leaseKey, origin }),
      targets,
      deliveries,
      retention,
      origin,
      isTrustedProxy,
      async metricsTokenHash() {
        const row = await db
          .selectFrom('meta')
          .select('value')
          .where('key', '=', METRICS_TOKEN_KEY)
          .executeTakeFirst();
        return row?.value ?? null;
      },
    };
    return {
      parts,
      database: database.name,
      lost: database.lost,
      async close() {
        await chats.close();
        await deliveries.close();
        await retention.close();
        await guard.close();
        await workspaces.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Where the database keeps how people reached the server last. */
const ORIGIN_KEY = 'origin';

/**
 * Does one thing that a command asks for on a folder on which no server runs. What it says of addresses is as the server was
 * reached last; where none has run yet, that is guessed.
 */
export async function administerClosed(
  options: ServerOptions,
  guess: string,
  verb: string,
  input: unknown,
): Promise<{ result: unknown; isGuessed: boolean }> {
  const { parts, close } = await openParts(options, {
    origin: guess,
    isTrustedProxy: () => false,
    isAllowedTarget: () => false,
    telegramApi: TELEGRAM_API,
    slackApi: SLACK_API,
  });
  try {
    const kept = await parts.db
      .selectFrom('meta')
      .select('value')
      .where('key', '=', ORIGIN_KEY)
      .executeTakeFirst();
    const result = await administer({ ...parts, origin: kept?.value ?? guess }, verb, input);
    return { result, isGuessed: kept === undefined };
  } finally {
    await close();
  }
}

/** Starts a server. Throws `already_running`, `address_in_use`, `key_mismatch`, `storage_newer`. */
export async function startServer(options: ServerOptions, settings: ServerSettings): Promise<RunningServer> {
  const { folder, log } = options;
  const socket = findAdminSocket(folder);
  const server = createLimitedServer({
    headersMs: 10_000,
    requestMs: 60_000,
    idleMs: 65_000,
    connections: 2000,
    // So that its answer has the headers of all others.
    requiresHost: false,
  });
  await listenOn(server, { host: settings.host, port: settings.port });
  const { port } = server.address() as AddressInfo;
  const shown = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const origin = settings.publicUrl?.origin ?? `http://${shown}:${port}`;
  let opened: OpenParts;
  try {
    opened = await openParts(options, { ...settings, origin });
  } catch (error) {
    server.close();
    throw error;
  }
  const { parts, database, lost } = opened;
  // A socket of a server that was killed; the lock on the folder says that none runs.
  rmSync(socket, { force: true });
  const admin = createServer((request, response) => void answerAdmin(parts, request, response));
  try {
    await listenOn(admin, { path: socket });
    await parts.db
      .insertInto('meta')
      .values({ key: ORIGIN_KEY, value: origin })
      .onConflict((same) => same.column('key').doUpdateSet({ value: origin }))
      .execute();
    await parts.firstRun.offer();
  } catch (error) {
    server.close();
    admin.close();
    await opened.close();
    throw error;
  }
  const headers = listSecurityHeaders(origin);
  guardEarlyAnswers(server, headers);
  server.on(
    'request',
    getRequestListener(makeServerApp(parts).fetch, {
      overrideGlobalObjects: false,
      errorHandler: answerUnreadable(headers),
    }),
  );
  parts.deliveries.start();
  parts.retention.start();
  void parts.chats
    .start()
    .catch((thrown: unknown) =>
      log.error({ error: asSvcError(thrown).message }, 'the chats were not started'),
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
        await opened.close();
        log.info({}, 'server closed');
      })();
      return closing;
    },
  };
}

/** Takes no more connections, and cuts those that are still open after a while. */
function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cutting = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
  // A connection whose last answer has just gone out is kept open for the next request.
  const idling = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
  server.close(() => {
    clearTimeout(cutting);
    clearInterval(idling);
    resolve();
  });
  server.closeIdleConnections();
  return promise;
}

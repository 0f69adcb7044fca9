import type { LookupFunction } from 'node:net';
import { type Clock, systemClock } from '../core/base/clock.ts';
import { asSvcError, type SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { METRICS_TOKEN_KEY } from './administer.ts';
import { createChangeLog } from './change-log.ts';
import { createChats } from './chats/index.ts';
import { openServerDatabase, readDatabaseUrl } from './database/open.ts';
import type { DecisionFollower } from './decision-follower.ts';
import { createAddressGuard } from './deliveries/address-guard.ts';
import { createDeliveries } from './deliveries/index.ts';
import { createTargets } from './deliveries/targets.ts';
import type { ServerParts } from './http/context.ts';
import type { ServerSettings } from './http/settings.ts';
import { createServerRetention } from './keeping/retention.ts';
import { createCommands } from './links/commands.ts';
import { createWorkspaceEvents } from './links/events.ts';
import { createPendingDecisions } from './links/pending.ts';
import { createPolls } from './links/polls.ts';
import { createStopWorkspaces } from './links/stop-workspaces.ts';
import { createUsage } from './links/usage.ts';
import { createUsedSignatures } from './links/used-signatures.ts';
import { createWorkspaces } from './links/workspaces.ts';
import { createDeviceRequests } from './login/device-requests.ts';
import { createMachines } from './login/machines.ts';
import { createFailureCounter } from './people/failures.ts';
import { createFirstRun } from './people/first-run.ts';
import { createPasswordChecks } from './people/password-checks.ts';
import { createPasswords, type PasswordCost } from './people/passwords.ts';
import { createPeople } from './people/people.ts';
import { createLeaseIssuer } from './plans/leases.ts';
import { createPlans } from './plans/plans.ts';
import { createSealer } from './sealing.ts';
import { checkRootSecret, loadRootSecret, SEALING } from './secrets.ts';

export interface ServerOptions {
  /** Its data folder, which exists. */
  folder: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  clock?: Clock;
  /** The cost of a password for a guesser. */
  passwordCost?: PasswordCost;
  /** Resolves names of targets. */
  lookup?: LookupFunction;
  /** The setup code of a new server, and its file. */
  tellSetupCode?(code: string, file: string): void;
  /** The file of a newly created root secret. */
  tellNewSecret?(file: string): void;
}

/** The key of the last public address in the database. */
export const ORIGIN_KEY = 'origin';

/** Opened resources, to be closed again. */
export interface OpenParts {
  parts: ServerParts;
  database: string;
  lost: Promise<SvcError>;
  close(): Promise<void>;
}

/** How the server is reached, and what it may reach. */
export interface ServerReach extends Pick<ServerSettings, 'isTrustedProxy' | 'isAllowedTarget' | 'slackApi'> {
  telegramApi: ServerSettings['telegramApi'] | null;
  origin: string;
}

/** Opens the database and everything that uses it. */
export async function openParts(
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
  { origin, isTrustedProxy, isAllowedTarget, telegramApi, slackApi }: ServerReach,
): Promise<OpenParts> {
  const database = await openServerDatabase(folder, readDatabaseUrl(env));
  try {
    const { db, deferred } = database;
    /** Also every hour, to repair failures. */
    const eraseDeleted = (): Promise<void> =>
      database.eraseDeleted().catch((thrown: unknown) => {
        log.warn({ error: asSvcError(thrown).message }, 'deleted data was not yet removed from the files');
      });
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
    // Chats depend on these, so they are created afterwards.
    const follower: DecisionFollower = {
      followDecisions: (...given) => chats.followDecisions(...given),
      wake: () => chats.wake(),
    };
    const polls = createPolls(clock);
    const stopWorkspaces = createStopWorkspaces({ follower, polls });
    const people = createPeople({
      db,
      clock,
      changes,
      passwords,
      plans,
      follower,
      stopWorkspaces,
      eraseDeleted,
    });
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
      eraseDeleted,
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
      follower,
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
      eraseDeleted,
      wake() {
        deliveries.wake();
        chats.wake();
      },
    });
    const parts: ServerParts = {
      db,
      readApart: database.readApart,
      clock,
      log,
      people,
      passwords,
      passwordChecks: createPasswordChecks({ failures, passwords }),
      firstRun,
      changes,
      failures,
      devices: createDeviceRequests({ db, clock, changes }),
      machines: createMachines({ db, clock, changes, stopWorkspaces }),
      workspaces,
      events: createWorkspaceEvents({ db, deferred, clock, deliveries, chats, origin }),
      pending,
      chats,
      commands,
      signatures,
      polls,
      usage: createUsage({ db, clock, changes, eraseDeleted }),
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

import type { LookupFunction } from 'node:net';
import type { Kysely } from 'kysely';
import type { Clock } from '../core/base/clock.ts';
import type { Log } from '../core/base/log.ts';
import { METRICS_TOKEN_KEY } from './administer.ts';
import { createChangeLog } from './change-log.ts';
import { createChats } from './chats/index.ts';
import type { openServerDatabase } from './database/open.ts';
import type { Tables } from './database/tables.ts';
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
import { createRunLists } from './links/runs.ts';
import { createStopWorkspaces } from './links/stop-workspaces.ts';
import { createUsage } from './links/usage.ts';
import { createUsedSignatures } from './links/used-signatures.ts';
import { createWorkspaces } from './links/workspaces.ts';
import { createDeviceRequests } from './login/device-requests.ts';
import { createMachines } from './login/machines.ts';
import { createFailureCounter } from './people/failures.ts';
import { createFirstRun, type SetupOffer } from './people/first-run.ts';
import { createPasswordChecks } from './people/password-checks.ts';
import { createPasswords, type PasswordCost } from './people/passwords.ts';
import { createPeople } from './people/people.ts';
import { createLeaseIssuer } from './plans/leases.ts';
import { createPlans } from './plans/plans.ts';
import { createSealer } from './sealing.ts';
import { type checkRootSecret, SEALING } from './secrets.ts';

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
  /** Called with each setup code of a new server. */
  tellSetupCode?(offer: SetupOffer): void;
  /** The file of a newly created root secret. */
  tellNewSecret?(file: string): void;
}

/** How the server is reached, and what it may reach. */
export interface ServerReach extends Pick<ServerSettings, 'isTrustedProxy' | 'isAllowedTarget' | 'slackApi'> {
  telegramApi: ServerSettings['telegramApi'] | null;
  origin: string;
}

interface PartsDeps {
  database: Awaited<ReturnType<typeof openServerDatabase>>;
  secret: Awaited<ReturnType<typeof checkRootSecret>>;
  clock: Clock;
  /** Removes deleted data from the files; never rejects. */
  eraseDeleted(): Promise<void>;
}

/** Creates everything that uses the database. */
export async function createParts(
  { database, secret, clock, eraseDeleted }: PartsDeps,
  { folder, env, log, passwordCost, lookup, tellSetupCode }: ServerOptions,
  { origin, isTrustedProxy, isAllowedTarget, telegramApi, slackApi }: ServerReach,
) {
  const { db, deferred } = database;
  const changes = createChangeLog({ db, clock });
  const base = { db, clock, log, changes };
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
  const people = createPeople({ ...base, passwords, plans, follower, stopWorkspaces, eraseDeleted });
  const tell = (offer: SetupOffer): void => tellSetupCode?.(offer);
  const firstRun = createFirstRun({ db, people, folder, origin, tell });
  const commands = createCommands({
    ...base,
    onGiven: polls.tell,
    onChanged: (workspace, decision) => chats.followCommand(workspace, decision),
  });
  const failures = createFailureCounter({ db, clock });
  const sealer = createSealer(secret.deriveKey(SEALING));
  const pending = createPendingDecisions({ db, follower });
  const { tokenChanges } = database;
  const workspaces = createWorkspaces({ ...base, plans, follower, tokenChanges, eraseDeleted });
  const chats = await createChats({
    ...base,
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
    ...base,
    plans,
    sealer,
    guard,
    follower,
    wake: () => deliveries.wake(),
  });
  const deliveries = await createDeliveries({ ...base, plans, guard, openTarget: targets.open });
  const signatures = createUsedSignatures({ db, clock });
  const retention = createServerRetention({
    ...base,
    failures,
    signatures,
    eraseDeleted,
    wake() {
      deliveries.wake();
      chats.wake();
    },
  });
  const parts: ServerParts = {
    ...base,
    readApart: database.readApart,
    people,
    passwords,
    passwordChecks: createPasswordChecks({ failures, passwords }),
    firstRun,
    failures,
    devices: createDeviceRequests(base),
    machines: createMachines({ ...base, stopWorkspaces }),
    workspaces,
    events: createWorkspaceEvents({ db, deferred, clock, deliveries, chats, origin }),
    pending,
    runs: createRunLists(db),
    chats,
    commands,
    signatures,
    polls,
    usage: createUsage({ ...base, eraseDeleted }),
    plans,
    leases: createLeaseIssuer({ db, clock, plans, leaseKey: secret.leaseKey, origin }),
    targets,
    deliveries,
    retention,
    origin,
    isTrustedProxy,
    metricsTokenHash: () => readMetricsTokenHash(db),
  };
  return { parts, guard };
}

async function readMetricsTokenHash(db: Kysely<Tables>): Promise<string | null> {
  const row = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', METRICS_TOKEN_KEY)
    .executeTakeFirst();
  return row?.value ?? null;
}

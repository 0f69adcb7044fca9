import type { HttpBindings } from '@hono/node-server';
import type { Context as HonoContext } from 'hono';
import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Chats } from '../chats/index.ts';
import type { ServerDatabase } from '../database/open.ts';
import type { Tables } from '../database/tables.ts';
import type { TargetDeliveries } from '../deliveries/index.ts';
import type { TargetStore } from '../deliveries/targets.ts';
import type { ServerRetention } from '../keeping/retention.ts';
import type { CommandQueue } from '../links/commands.ts';
import type { WorkspaceEvents } from '../links/events.ts';
import type { PendingDecisions } from '../links/pending.ts';
import type { LinkPolls } from '../links/polls.ts';
import type { RunLists } from '../links/runs.ts';
import type { WorkspaceUsage } from '../links/usage.ts';
import type { UsedSignatures } from '../links/used-signatures.ts';
import type { WorkspaceLinks } from '../links/workspaces.ts';
import type { DeviceRequests } from '../login/device-requests.ts';
import type { MachineStore } from '../login/machines.ts';
import type { FailureCounter } from '../people/failures.ts';
import type { FirstRun } from '../people/first-run.ts';
import type { PasswordChecks } from '../people/password-checks.ts';
import type { PasswordStore } from '../people/passwords.ts';
import type { PeopleStore, SignedIn } from '../people/people.ts';
import type { LeaseIssuer } from '../plans/leases.ts';
import type { AccountPlans } from '../plans/plans.ts';

/** The dependencies of all answers. */
export interface ServerParts {
  db: Kysely<Tables>;
  readApart: ServerDatabase['readApart'];
  clock: Clock;
  log: Log;
  people: PeopleStore;
  passwords: PasswordStore;
  passwordChecks: PasswordChecks;
  firstRun: FirstRun;
  failures: FailureCounter;
  changes: ChangeLog;
  devices: DeviceRequests;
  machines: MachineStore;
  workspaces: WorkspaceLinks;
  events: WorkspaceEvents;
  pending: PendingDecisions;
  runs: RunLists;
  commands: CommandQueue;
  signatures: UsedSignatures;
  polls: LinkPolls;
  usage: WorkspaceUsage;
  plans: AccountPlans;
  leases: LeaseIssuer;
  targets: TargetStore;
  deliveries: TargetDeliveries;
  chats: Chats;
  retention: ServerRetention;
  /** Scheme, host and port for links, the issuer and origin checks. */
  origin: string;
  isTrustedProxy(address: string): boolean;
  /** The hash of the token for `/metrics`; null if none was created. */
  metricsTokenHash(): Promise<string | null>;
}

/** Variables of a request. */
export interface ServerEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The client's address, behind trusted proxies. */
    address: string;
    signedIn: SignedIn;
    /** True if nothing relevant for the log has happened. */
    isUneventful: boolean;
  };
}

export type ServerContext = HonoContext<ServerEnv>;

/**
 * Reads a header of a request as Node parsed it. Hono would build a native Headers of all of them, which takes as
 * long as a short answer.
 */
export function readHeader(context: ServerContext, name: Lowercase<string>): string | undefined {
  const value = context.env.incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the path of a request for the log, without secrets. */
export const showPath = ({ req }: ServerContext): string =>
  req.path.replace(/^\/(invitation|chats\/\w+)\/.*/, '/$1/…');

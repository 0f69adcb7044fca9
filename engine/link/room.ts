import { randomUUID } from 'node:crypto';
import { describeLease, type LeaseFacts } from '../access/index.ts';
import type { By, Policy } from '../api/operation.ts';
import { type Clock, rfc3339 } from '../base/clock.ts';
import { asSvcError, SvcError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { version } from '../base/own-package.ts';
import type { Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import { linkAnswer, MOST_DECISIONS, tokenAnswer } from '../http/link-protocol.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { createCommandApplier } from './apply-command.ts';
import { chooseServer } from './choose-server.ts';
import { createLinkClient, type LinkClient, type LinkState } from './client.ts';
import type { ServerConfig } from './config.ts';
import { makeCodeAddress, makeCodeSecret } from './decide-code.ts';
import { createEventOutbox } from './event-outbox.ts';
import type { Leases } from './leases.ts';
import { buildPendingDecision, outgoingName } from './outgoing.ts';
import { createLinkRows, type LinkRow } from './rows.ts';
import { createServerCalls, nothing, type ServerCalls } from './server-calls.ts';
import { createTokenFile } from './token-file.ts';

/** What `work` gives; null where a file is refused, since unlinking goes on in any case. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** A token is replaced when it is so old. */
const TOKEN_LIFE_MS = 90 * 86_400_000;
/** How the link of this workspace stands, for status, doctor and the dashboard. */
export interface LinkStatus {
  /** `off`: not linked. */
  state: 'off' | LinkState;
  server: string | null;
  account: string | null;
  person: string | null;
  linkedAt: string | null;
  /** Since when it is in that state. */
  since: string | null;
  /** A clause; null while all is well. */
  problem: string | null;
  /** Events that the server has not been told. */
  waitingEvents: number;
  /** How far the server's clock is ahead, ms. */
  clockOffsetMs: number | null;
  lease: {
    state: LeaseFacts['state'];
    /** How long it counts yet, ms; null for one that does not end. */
    leftMs: number | null;
    /** A clause, from a day before its end on; null while all is well. */
    problem: string | null;
  };
  tokenFile: string;
  tokenAt: string | null;
}

export interface LinkDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  log: Log;
  env: NodeJS.ProcessEnv;
  root: string;
  /** The data folder. */
  data: string;
  /** The id of the data folder. */
  dataId: string;
  config(): { server: ServerConfig; policy: Policy; workspace: { name: string } };
  /** Writes `server.url`, as a person agrees to it by linking; null takes it out. */
  setServerUrl(url: string | null, actor: string): void;
  tasks: Tasks;
  decisions: Decisions;
  workflow: Workflow;
  requireConsent(): void;
  leases: Pick<Leases, 'refresh' | 'drop' | 'view'>;
}

/** The link of a workspace to the server that it is linked to; one that is not costs nothing. */
export interface Link {
  status(): LinkStatus;
  /** Begins or ends according to svc.yaml, and tells the server what that changes. */
  applySettings(): void;
  /**
   * Links the workspace by the token of a machine: the given one, else that of `svc login`. Throws `not_linked` where this
   * machine is logged in nowhere.
   */
  link(given: { token?: string | undefined; server?: string | undefined }, by: By): Promise<LinkStatus>;
  /** Unlinks: on the server first, then here in any case. `isTold` is false where the server could not be told. */
  unlink(by: By): Promise<{ server: string | null; isTold: boolean }>;
  /** Makes the secret of one-time codes and gives its address, which is not shown again. Throws `exists`. */
  makeDecideCode(isNew: boolean, by: By): Promise<{ address: string }>;
  /** Calls with the workspace's token, while it is linked; null otherwise. */
  calls(): ServerCalls | null;
  /** Where this workspace is linked, also while that server does not answer; null where it is not. */
  linked(): LinkRow | null;
  close(): Promise<void>;
}

export function createLink(deps: LinkDeps): Link {
  const { storage, events, clock, log, config, tasks, decisions } = deps;
  const rows = createLinkRows(storage);
  const applier = createCommandApplier({ ...deps, rows });
  const instance = randomUUID();
  let row: LinkRow | null = rows.readLink();
  let active: { row: LinkRow; client: LinkClient; calls: ServerCalls } | null = null;
  /** Why it is not linked although there is a row. */
  let problem: string | null = null;
  let isClosed = false;
  let closingClient: Promise<void> = Promise.resolve();

  const tokenFile = createTokenFile({ ...deps, tokenPath: () => config().server.token_path });

  /** Events go out while somebody is to be told, also while that one does not answer. */
  const isOn = (): boolean => active !== null && row?.revokedAt === null;

  const outbox = createEventOutbox({
    ...deps,
    rows,
    isOn,
    wake: (hasDecisions) => active?.client.wake(hasDecisions),
  });

  async function rotateIfDue(calls: ServerCalls): Promise<void> {
    await outbox.dropOld();
    if (row === null || clock.now() - row.tokenAt < TOKEN_LIFE_MS) return;
    const { token } = await calls.call('/v1/workspace/token', { method: 'POST', answer: tokenAnswer });
    // The old one opens until this one was used, so that nothing is lost when it cannot be written.
    tokenFile.write(token);
    const tokenAt = clock.now();
    await storage.write(() => rows.setTokenAt(tokenAt));
    row = { ...row, tokenAt };
  }

  function onRevoked(): void {
    const at = clock.now();
    if (row !== null) row = { ...row, revokedAt: at };
    deps.leases.drop('revoked');
    storage
      .write(() => {
        if (!rows.setRevoked(at)) return;
        events.append({
          kind: 'alert',
          via: 'engine',
          data: {
            code: 'revoked',
            title: 'unlinked by the server',
            reason: 'the linked server no longer takes the token of this workspace',
          },
        });
      })
      .catch((error: unknown) => log.warn({ error }, 'that the link was revoked is not saved'));
  }

  function start(linked: LinkRow): void {
    const calls = createServerCalls({
      server: new URL(linked.server),
      token: () => tokenFile.read() ?? 'none',
    });
    const client = createLinkClient({
      calls,
      clock,
      log,
      instance,
      workspaceName: () => outgoingName(config().workspace.name),
      listPending() {
        const { server, workspace } = config();
        const waiting = decisions.list({ state: 'pending', limit: MOST_DECISIONS });
        return {
          workspace: outgoingName(workspace.name),
          channels: [...new Set(Object.values(server.decide).flat())].sort(),
          decisions: waiting.map((each) =>
            buildPendingDecision(each, tasks.get(each.taskId), tasks.readOrigin(each.taskId), server),
          ),
          more: Math.max(0, decisions.count('pending') - waiting.length),
        };
      },
      nextEvents: rows.nextEvents,
      settleEvents: outbox.settle,
      async apply(command, offsetMs) {
        if (command.verb !== 'refresh') {
          const outcome = await applier.applyCommand(command, offsetMs);
          if (outcome.outcome === 'unknown_verb') log.warn({ verb: command.verb }, 'a command was refused');
          return outcome;
        }
        await deps.leases.refresh();
        return applier.keepOutcome(command.id, 'refreshed');
      },
      rotateIfDue: () => rotateIfDue(calls),
      onRevoked,
    });
    active = { row: linked, client, calls };
  }

  async function stop(): Promise<void> {
    const before = active;
    active = null;
    if (before === null) return;
    closingClient = closingClient.then(() => before.client.close());
    await closingClient;
  }

  /** Why the row that there is cannot be used; null when it can. */
  function findProblem(linked: LinkRow): string | null {
    const { url } = config().server;
    if (linked.revokedAt !== null)
      return `${linked.server} takes the token no longer; svc link links it anew`;
    if (url === '') return 'server.url is not set; svc link sets it';
    if (URL.parse(url)?.origin !== linked.server)
      return `server.url names ${URL.parse(url)?.origin ?? 'no server'}, and the token is of ${linked.server}; svc link links it anew`;
    if (tokenFile.read() === null) return `${tokenFile.path()} has no token; svc link makes one`;
    return null;
  }

  function applySettings(): void {
    if (isClosed) return;
    problem = row === null ? null : asProblem(row);
    const wanted = problem === null ? row : null;
    if (active !== null && active.row.server === wanted?.server && active.row.linkedAt === wanted.linkedAt) {
      active.client.wake(true);
      return;
    }
    if (active !== null) void stop();
    if (wanted !== null) start(wanted);
  }

  const asProblem = (linked: LinkRow): string | null => {
    try {
      return findProblem(linked);
    } catch (thrown) {
      // A token file that is a link, or of somebody else, is not opened.
      return asSvcError(thrown).message;
    }
  };

  function status(): LinkStatus {
    const standing = active?.client.standing() ?? null;
    const isRevoked = row?.revokedAt !== null && row !== null;
    const lease = deps.leases.view();
    const since = standing?.since ?? row?.revokedAt ?? null;
    return {
      state: standing?.state ?? (isRevoked ? 'revoked' : 'off'),
      server: row?.server ?? null,
      account: row?.account ?? null,
      person: row?.person ?? null,
      linkedAt: row === null ? null : rfc3339(row.linkedAt),
      since: since === null ? null : rfc3339(since),
      problem: standing?.problem ?? problem,
      waitingEvents: row === null ? 0 : rows.countEvents(),
      clockOffsetMs: standing?.offsetMs ?? null,
      lease: {
        state: lease.state,
        leftMs: lease.leftMs,
        // Whoever is not linked, or no longer, needs none.
        problem: active === null || isRevoked ? null : describeLease(lease),
      },
      tokenFile: tokenFile.path(),
      tokenAt: row === null ? null : rfc3339(row.tokenAt),
    };
  }

  return {
    status,
    applySettings,
    async link(given, by) {
      const { server, token } = chooseServer(given, { env: deps.env, configured: config().server.url });
      tokenFile.check();
      const machine = createServerCalls({ server, token: () => token });
      const answer = await machine
        .call('/v1/workspaces', {
          method: 'POST',
          body: { key: deps.dataId, name: outgoingName(config().workspace.name), version },
          answer: linkAnswer,
        })
        .finally(() => machine.close());
      await stop();
      tokenFile.write(answer.token);
      const now = clock.now();
      const linked: LinkRow = {
        server: server.origin,
        workspace: answer.workspace,
        account: answer.account,
        person: answer.person,
        leaseKey: answer.lease_key,
        linkedAt: now,
        tokenAt: now,
        revokedAt: null,
      };
      await storage.write(() => {
        // What another server was to be told is none of this one's business.
        if (row !== null && row.server !== linked.server) rows.clear();
        rows.putLink(linked);
        events.append({ kind: 'link_changed', ...by, data: { server: linked.server, linked: true } });
      });
      row = linked;
      deps.setServerUrl(server.origin, by.actor);
      applySettings();
      deps.leases.drop('none');
      await deps.leases.refresh();
      return status();
    },
    async unlink(by) {
      const before = row;
      const token = attempt(tokenFile.read);
      await stop();
      let isTold = false;
      if (before !== null && token !== null) {
        const calls = createServerCalls({ server: new URL(before.server), token: () => token });
        isTold = await calls.call('/v1/workspace', { method: 'DELETE', answer: nothing }).then(
          () => true,
          (thrown: unknown) => asSvcError(thrown).code === 'revoked',
        );
        await calls.close();
      }
      attempt(tokenFile.remove);
      await storage.write(() => {
        rows.clear();
        if (before !== null)
          events.append({ kind: 'link_changed', ...by, data: { server: before.server, linked: false } });
      });
      row = null;
      problem = null;
      deps.leases.drop('none');
      if (config().server.url !== '') deps.setServerUrl(null, by.actor);
      return { server: before?.server ?? null, isTold };
    },
    async makeDecideCode(isNew, by) {
      const secret = makeCodeSecret();
      await storage.write(() => {
        if (!isNew && rows.readCode() !== null)
          throw new SvcError('exists', 'one-time codes are set up already, and are shown once only', {
            hint: 'svc link code --new makes others; the former ones count no longer',
          });
        rows.putCode(secret, clock.now());
        events.append({ kind: 'link_changed', ...by, data: { codes: 'made' } });
      });
      return { address: makeCodeAddress(secret, config().workspace.name) };
    },
    calls: () => active?.calls ?? null,
    linked: () => row,
    async close() {
      isClosed = true;
      outbox.close();
      await stop();
      await closingClient;
    },
  };
}

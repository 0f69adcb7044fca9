import { randomUUID } from 'node:crypto';
import type { Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import type { By, Policy } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { version } from '../core/base/own-package.ts';
import { createSerialQueue } from '../core/base/serial-queue.ts';
import { linkAnswer, MOST_DECISIONS } from '../core/link-protocol/messages.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { createCommandApplier } from './apply-command.ts';
import { chooseServer } from './choose-server.ts';
import { createLinkClient, type LinkClient } from './client.ts';
import type { ServerConfig } from './config.ts';
import { makeCodeAddress, makeCodeSecret } from './decide-code.ts';
import { createEventOutbox } from './event-outbox.ts';
import type { Leases } from './leases.ts';
import { buildPendingDecision, outgoingName } from './outgoing.ts';
import { createTokenRotation } from './rotate-token.ts';
import { createLinkRows, type LinkRow } from './rows.ts';
import { createServerCalls, nothing, type ServerCalls } from './server-calls.ts';
import { buildLinkStatus, type LinkStatus } from './status.ts';
import { createTelemetry, type Telemetry, type TierTokens } from './telemetry/index.ts';
import { createTokenFile } from './token-file.ts';

/** What `work` gives; null where a file is refused, since unlinking goes on in any case. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
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
  config(): {
    server: ServerConfig;
    policy: Policy;
    workspace: { name: string };
    telemetry: { work: string };
  };
  /** Writes `server.url`, as a person agrees to it by linking; null takes it out. */
  setServerUrl(url: string | null, actor: string): void;
  tasks: Tasks;
  decisions: Decisions;
  workflow: Workflow;
  requireConsent(): void;
  leases: Pick<Leases, 'refresh' | 'drop' | 'view'>;
  /** Tokens through the gateway on that UTC day, of calls since then (Unix ms). */
  sumTierTokens(day: string, since: number): TierTokens;
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
  telemetry: Telemetry;
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
  let closingClient: Promise<void> = Promise.resolve();
  const closing = new AbortController();
  const enqueueChange = createSerialQueue();
  /** While true, settings are not applied: row and token may be of two servers. */
  let isChanging = false;

  const tokenFile = createTokenFile({ ...deps, tokenPath: () => config().server.token_path });

  /** Events go out while somebody is to be told, also while that one does not answer or is linked anew. */
  const isOn = (): boolean => row?.revokedAt === null && problem === null;

  const outbox = createEventOutbox({
    ...deps,
    rows,
    isOn,
    wake: (hasDecisions) => active?.client.wake(hasDecisions),
  });

  const telemetry = createTelemetry({ ...deps, linked: () => row, calls: () => active?.calls ?? null });
  const applyTelemetry = (): void =>
    void telemetry
      .applySettings()
      .catch((error: unknown) => log.warn({ error }, 'telemetry continues as before'));

  const rotation = createTokenRotation({
    ...deps,
    write: (token) => tokenFile.write(token),
    async setTokenAt(tokenAt) {
      await storage.write(() => rows.setTokenAt(tokenAt));
      if (row !== null) row = { ...row, tokenAt };
    },
  });

  /** The server no longer takes the token of a client. */
  function onRevoked(of: ServerCalls): void {
    // A link that is being made anew has ended the former token: whether it came about is known after it.
    void enqueueChange(() => {
      if (active?.calls === of) markRevoked();
    });
  }

  function markRevoked(): void {
    const at = clock.now();
    if (row !== null) row = { ...row, revokedAt: at };
    deps.leases.drop('revoked');
    applyTelemetry();
    storage
      .write(() => {
        if (!rows.setRevoked(at)) return;
        events.append({
          kind: 'alert',
          via: 'engine',
          data: {
            code: 'revoked',
            title: 'unlinked by the server',
            reason: 'the linked server no longer accepts the token of this workspace',
          },
        });
      })
      .catch((error: unknown) => log.warn({ error }, 'the revocation of the link was not saved'));
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
      nextEvents: outbox.next,
      settleEvents: outbox.settle,
      async apply(command, offsetMs) {
        if (command.verb !== 'refresh') {
          const outcome = await applier.applyCommand(command, offsetMs);
          if (outcome.outcome === 'unknown_verb') log.warn({ verb: command.verb }, 'a command was refused');
          return outcome;
        }
        const { failure } = await deps.leases.refresh();
        return failure === null
          ? applier.keepOutcome(command.id, 'refreshed')
          : applier.keepOutcome(command.id, 'refused', { code: failure });
      },
      async prepare(signal) {
        await outbox.dropOld();
        if (row !== null) await rotation.rotateIfDue(row.tokenAt, calls, signal);
      },
      onRevoked: () => onRevoked(calls),
      onConnected: telemetry.wake,
    });
    active = { row: linked, client, calls };
  }

  async function stop(): Promise<void> {
    const before = active;
    active = null;
    if (before !== null) closingClient = closingClient.then(() => before.client.close());
    await closingClient;
  }

  /** Why a row cannot be used; null when it can. */
  function checkRow(linked: LinkRow): string | null {
    const { url } = config().server;
    if (linked.revokedAt !== null)
      return `${linked.server} no longer accepts the token; svc link links it again`;
    if (url === '') return 'server.url is not set; svc link sets it';
    if (URL.parse(url)?.origin !== linked.server)
      return `server.url names ${URL.parse(url)?.origin ?? 'no server'}, but the token belongs to ${linked.server}; svc link links it again`;
    if (tokenFile.read() === null) return `${tokenFile.path()} has no token; svc link creates one`;
    return null;
  }

  function applySettings(): void {
    if (closing.signal.aborted || isChanging) return;
    applyTelemetry();
    problem = findProblem();
    const wanted = problem === null ? row : null;
    if (active !== null && active.row.server === wanted?.server && active.row.linkedAt === wanted.linkedAt) {
      active.client.wake(true);
      return;
    }
    if (active !== null) void stop();
    if (wanted !== null) start(wanted);
  }

  function findProblem(): string | null {
    try {
      return row === null ? null : checkRow(row);
    } catch (thrown) {
      // A token file that is a link, or of somebody else, is not opened.
      return asSvcError(thrown).message;
    }
  }

  // What happens before the link is kept is for the server only where it can be.
  problem = findProblem();

  const status = (): LinkStatus =>
    buildLinkStatus(
      row,
      { standing: active?.client.standing() ?? null, problem, lease: deps.leases.view() },
      {
        waitingEvents: row === null ? 0 : rows.countEvents(),
        tokenFile: tokenFile.path(),
        isTelemetryWaiting: telemetry.waitsForPerson(),
      },
    );

  /** One change of the link after the other; settings that were read meanwhile count after it. */
  const changeLink = <T>(change: () => Promise<T>): Promise<T> =>
    enqueueChange(async () => {
      isChanging = true;
      try {
        return await change();
      } finally {
        isChanging = false;
        applySettings();
      }
    });

  /** Forgets a server with all that it was to be told. */
  async function forget(before: LinkRow | null, by: By): Promise<void> {
    row = null;
    try {
      await storage.write(() => {
        rows.clear();
        if (before !== null)
          events.append({ kind: 'link_changed', ...by, data: { server: before.server, linked: false } });
      });
    } catch (error) {
      row = before;
      throw error;
    }
    problem = null;
    deps.leases.drop('none');
  }

  async function keep(linked: LinkRow, token: string, by: By): Promise<void> {
    await stop();
    // Row and token of two accounts never stand side by side, whenever the engine dies, and neither is told of the other.
    const isSame = row?.server === linked.server && row.workspace === linked.workspace;
    if (row !== null && !isSame) await forget(row, by);
    tokenFile.write(token);
    await storage.write(() => {
      rows.putLink(linked);
      events.append({ kind: 'link_changed', ...by, data: { server: linked.server, linked: true } });
    });
    row = linked;
    deps.leases.drop('none');
    deps.setServerUrl(linked.server, by.actor);
  }

  async function link(given: Parameters<Link['link']>[0], by: By): Promise<void> {
    const { server, token } = chooseServer(given, { env: deps.env, configured: config().server.url });
    tokenFile.check({ isFirst: row === null });
    const machine = createServerCalls({ server, token: () => token });
    const answer = await machine
      .call('/v1/workspaces', {
        method: 'POST',
        body: { key: deps.dataId, name: outgoingName(config().workspace.name), version },
        answer: linkAnswer,
        signal: closing.signal,
      })
      .finally(() => machine.close());
    const { workspace, account, person, lease_key: leaseKey } = answer;
    const now = clock.now();
    const at = { linkedAt: now, tokenAt: now, revokedAt: null };
    await keep({ server: server.origin, workspace, account, person, leaseKey, ...at }, answer.token, by);
  }

  /** False where the server could not be told. */
  async function tellUnlinked(before: LinkRow, token: string): Promise<boolean> {
    const calls = createServerCalls({ server: new URL(before.server), token: () => token });
    const request = { method: 'DELETE', answer: nothing, signal: closing.signal } as const;
    const isTold = await calls.call('/v1/workspace', request).then(
      () => true,
      (thrown: unknown) => asSvcError(thrown).code === 'revoked',
    );
    await calls.close();
    return isTold;
  }

  return {
    status,
    applySettings,
    async link(given, by) {
      await changeLink(() => link(given, by));
      await deps.leases.refresh();
      return status();
    },
    unlink: (by) =>
      changeLink(async () => {
        const before = row;
        const token = attempt(tokenFile.read);
        await stop();
        const isTold = before !== null && token !== null && (await tellUnlinked(before, token));
        attempt(tokenFile.remove);
        await forget(before, by);
        if (config().server.url !== '') deps.setServerUrl(null, by.actor);
        return { server: before?.server ?? null, isTold };
      }),
    async makeDecideCode(isNew, by) {
      const secret = makeCodeSecret();
      await storage.write(() => {
        if (!isNew && rows.readCode() !== null)
          throw new SvcError(
            'exists',
            'one-time codes are already set up, and their secret is shown only once',
            {
              hint: 'svc link code --new creates a new secret, which invalidates the previous one',
            },
          );
        rows.putCode(secret, clock.now());
        events.append({ kind: 'link_changed', ...by, data: { codes: 'made' } });
      });
      return { address: makeCodeAddress(secret, config().workspace.name) };
    },
    telemetry,
    calls: () => active?.calls ?? null,
    linked: () => row,
    async close() {
      closing.abort();
      outbox.close();
      await enqueueChange(() => undefined);
      await telemetry.close();
      await stop();
      await closingClient;
    },
  };
}

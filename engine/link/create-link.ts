import { randomUUID } from 'node:crypto';
import type { Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import type { CallAuthor, OperationPolicy } from '../core/api/operation.ts';
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
import type { AccountLeases } from './leases.ts';
import { buildPendingDecision, outgoingName } from './outgoing.ts';
import { createTokenRotation } from './rotate-token.ts';
import { createLinkRows, type LinkRow } from './rows.ts';
import { createServerCalls, nothing, type ServerCalls } from './server-calls.ts';
import { buildLinkStatus, type LinkStatus } from './status.ts';
import { createTelemetry, type LinkTelemetry, type TierTokens } from './telemetry/index.ts';
import { createTokenFile } from './token-file.ts';

/** Returns the result of `work`; null if a file is refused, since unlinking continues in any case. */
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
    policy: OperationPolicy;
    workspace: { name: string };
    telemetry: { work: string };
  };
  /** Writes `server.url` with a person's consent, given by linking; null removes it. */
  setServerUrl(url: string | null, actor: string): void;
  tasks: Tasks;
  decisions: Decisions;
  workflow: Workflow;
  requireConsent(): void;
  leases: Pick<AccountLeases, 'refresh' | 'drop' | 'view'>;
  /** Returns tokens through the gateway on that UTC day, for calls since then (Unix ms). */
  sumTierTokens(day: string, since: number): TierTokens;
}

/** The link of a workspace to its server; without a link it costs nothing. */
export interface Link {
  status(): LinkStatus;
  /** Starts or stops according to svc.yaml, and notifies the server of the change. */
  applySettings(): void;
  /**
   * Links the workspace with the token of a machine: the given one, otherwise the token of `svc login`. Throws
   * `not_linked` if this machine is not logged in.
   */
  link(
    given: { token?: string | undefined; server?: string | undefined },
    by: CallAuthor,
  ): Promise<LinkStatus>;
  /** Unlinks: first on the server, then locally in any case. `isTold` is false if the server could not be notified. */
  unlink(by: CallAuthor): Promise<{ server: string | null; isTold: boolean }>;
  /** Creates the secret of one-time codes and returns its address, which is not shown again. Throws `exists`. */
  makeDecideCode(isNew: boolean, by: CallAuthor): Promise<{ address: string }>;
  telemetry: LinkTelemetry;
  /** Calls with the workspace's token, while it is linked; null otherwise. */
  calls(): ServerCalls | null;
  /** Returns the linked server of this workspace, even if it does not answer; null without one. */
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
  /** While true, settings are not applied: row and token may belong to two servers. */
  let isChanging = false;

  const tokenFile = createTokenFile({ ...deps, tokenPath: () => config().server.token_path });

  /** Reports whether events are queued: while there is a server to notify, even if it does not answer or is being linked again. */
  const isLinkOn = (): boolean => row?.revokedAt === null && problem === null;

  const outbox = createEventOutbox({
    ...deps,
    rows,
    isOn: isLinkOn,
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

  /** Handles that the server no longer accepts the token of a client. */
  function onRevoked(of: ServerCalls): void {
    // Linking again has ended the previous token: its success is known afterwards.
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

  function startLink(linked: LinkRow): void {
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

  async function stopLink(): Promise<void> {
    const before = active;
    active = null;
    if (before !== null) closingClient = closingClient.then(() => before.client.close());
    await closingClient;
  }

  /** Returns why a row cannot be used; null if it can. */
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
    if (active !== null) void stopLink();
    if (wanted !== null) startLink(wanted);
  }

  function findProblem(): string | null {
    try {
      return row === null ? null : checkRow(row);
    } catch (thrown) {
      // A token file that is a link, or belongs to another user, is not opened.
      return asSvcError(thrown).message;
    }
  }

  // Events before the link is stored are for the server only if the link can be stored.
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

  /** Changes of the link run one after another; settings read in between apply afterwards. */
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

  /** Forgets a server with all pending events. */
  async function forgetLink(before: LinkRow | null, by: CallAuthor): Promise<void> {
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

  async function storeLink(linked: LinkRow, token: string, by: CallAuthor): Promise<void> {
    await stopLink();
    // Row and token of two accounts never coexist, whenever the engine dies, and neither account learns of the other.
    const isSame = row?.server === linked.server && row.workspace === linked.workspace;
    if (row !== null && !isSame) await forgetLink(row, by);
    tokenFile.write(token);
    await storage.write(() => {
      rows.putLink(linked);
      events.append({ kind: 'link_changed', ...by, data: { server: linked.server, linked: true } });
    });
    row = linked;
    deps.leases.drop('none');
    deps.setServerUrl(linked.server, by.actor);
  }

  async function link(given: Parameters<Link['link']>[0], by: CallAuthor): Promise<void> {
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
    await storeLink({ server: server.origin, workspace, account, person, leaseKey, ...at }, answer.token, by);
  }

  /** Notifies the server; false if that failed. */
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
        await stopLink();
        const isTold = before !== null && token !== null && (await tellUnlinked(before, token));
        attempt(tokenFile.remove);
        await forgetLink(before, by);
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
      await stopLink();
      await closingClient;
    },
  };
}

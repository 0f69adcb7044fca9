import type { Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import type { CallAuthor, OperationPolicy } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import type { Log } from '../core/base/log.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { createCommandApplier } from './apply-command.ts';
import { createLinkChanges } from './change-link.ts';
import type { ServerConfig } from './config.ts';
import { type ConnectionDeps, createLinkConnection, type LinkConnection } from './connection.ts';

import { createEventOutbox } from './event-outbox.ts';
import type { AccountLeases } from './leases.ts';
import { createLinkRecord } from './link-record.ts';
import { createCodeMaker } from './make-decide-code.ts';
import { createTokenRotation } from './rotate-token.ts';
import { createLinkRows, type LinkRow } from './rows.ts';
import type { ServerCalls } from './server-calls.ts';
import { buildLinkStatus, type LinkStatus } from './status.ts';
import { createTelemetry, type LinkTelemetry, type TierTokens } from './telemetry/index.ts';
import { createTokenFile } from './token-file.ts';

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
  sessions: ConnectionDeps['sessions'];
  findPullRequest: ConnectionDeps['findPullRequest'];
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

const REVOKED_ALERT = {
  kind: 'alert',
  via: 'engine',
  data: {
    code: 'revoked',
    title: 'unlinked by the server',
    reason: 'the linked server no longer accepts the token of this workspace',
  },
} as const;

export function createLink(deps: LinkDeps): Link {
  const { storage, events, clock, log, config } = deps;
  const rows = createLinkRows(storage);
  const closing = new AbortController();

  const tokenFile = createTokenFile({ ...deps, tokenPath: () => config().server.token_path });
  const record = createLinkRecord({ rows, tokenFile, config });
  const outbox = createEventOutbox({
    ...deps,
    rows,
    isOn: record.isOn,
    wake: (hasDecisions) => connection.wake(hasDecisions),
  });
  const telemetry = createTelemetry({ ...deps, linked: record.row, calls: () => connection.calls() });
  const connection: LinkConnection = createLinkConnection({
    ...deps,
    applier: createCommandApplier({ ...deps, rows }),
    outbox,
    readToken: tokenFile.read,
    rotateToken: createTokenRotation({ ...deps, rows, record, tokenFile }),
    onRevoked,
    onConnected: telemetry.wake,
  });
  const changes = createLinkChanges({
    ...deps,
    rows,
    record,
    tokenFile,
    connection,
    closing: closing.signal,
    applySettings,
  });

  const applyTelemetry = (): void =>
    void telemetry
      .applySettings()
      .catch((error: unknown) => log.warn({ error }, 'telemetry continues as before'));

  /** Handles that the server no longer accepts the token of a client. */
  function onRevoked(of: ServerCalls): void {
    // Linking again has ended the previous token: its success is known afterwards.
    void changes.enqueue(() => {
      if (connection.calls() === of) markRevoked();
    });
  }

  function markRevoked(): void {
    const at = clock.now();
    const row = record.row();
    if (row !== null) record.setRow({ ...row, revokedAt: at });
    deps.leases.drop('revoked');
    applyTelemetry();
    storage
      .write(() => {
        if (rows.setRevoked(at)) events.append(REVOKED_ALERT);
      })
      .catch((error: unknown) => log.warn({ error }, 'the revocation of the link was not saved'));
  }

  function applySettings(): void {
    if (closing.signal.aborted || changes.areRunning()) return;
    applyTelemetry();
    connection.connect(record.checkUsable());
  }

  const status = (): LinkStatus =>
    buildLinkStatus(
      record.row(),
      { standing: connection.standing(), problem: record.problem(), lease: deps.leases.view() },
      {
        waitingEvents: record.row() === null ? 0 : rows.countEvents(),
        tokenFile: tokenFile.path(),
        isTelemetryWaiting: telemetry.waitsForPerson(),
      },
    );

  return {
    status,
    applySettings,
    async link(given, by) {
      await changes.link(given, by);
      await deps.leases.refresh();
      return status();
    },
    unlink: changes.unlink,
    makeDecideCode: createCodeMaker({ ...deps, rows }),
    telemetry,
    calls: connection.calls,
    linked: record.row,
    async close() {
      closing.abort();
      outbox.close();
      await changes.enqueue(() => undefined);
      await telemetry.close();
      await connection.disconnect();
    },
  };
}

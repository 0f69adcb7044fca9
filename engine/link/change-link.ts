import type { CallAuthor } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import { version } from '../core/base/own-package.ts';
import { createSerialQueue } from '../core/base/serial-queue.ts';
import { linkAnswer } from '../core/link-protocol/messages.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { chooseServer } from './choose-server.ts';
import type { ServerConfig } from './config.ts';
import type { LinkConnection } from './connection.ts';
import type { AccountLeases } from './leases.ts';
import type { LinkRecord } from './link-record.ts';
import { outgoingName } from './outgoing.ts';
import type { LinkRow, LinkRows } from './rows.ts';
import { createServerCalls, nothing } from './server-calls.ts';
import type { TokenFile } from './token-file.ts';

/** Returns the result of `work`; null if a file is refused, since unlinking continues in any case. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export interface LinkChangesDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  /** The id of the data folder. */
  dataId: string;
  config(): { server: ServerConfig; workspace: { name: string } };
  /** Writes `server.url` with a person's consent, given by linking; null removes it. */
  setServerUrl(url: string | null, actor: string): void;
  leases: Pick<AccountLeases, 'drop'>;
  rows: LinkRows;
  record: LinkRecord;
  tokenFile: TokenFile;
  connection: Pick<LinkConnection, 'disconnect'>;
  closing: AbortSignal;
  /** Called after each change. */
  applySettings(): void;
}

/** Notifies the server; false if that failed. */
async function tellUnlinked(before: LinkRow, token: string, signal: AbortSignal): Promise<boolean> {
  const calls = createServerCalls({ server: new URL(before.server), token: () => token });
  const request = { method: 'DELETE', answer: nothing, signal } as const;
  const isTold = await calls.call('/v1/workspace', request).then(
    () => true,
    (thrown: unknown) => asSvcError(thrown).code === 'revoked',
  );
  await calls.close();
  return isTold;
}

/** Links the workspace to a server and unlinks it; one change at a time. */
export function createLinkChanges(deps: LinkChangesDeps) {
  const { storage, events, config, rows, record, tokenFile, connection, closing } = deps;
  const enqueue = createSerialQueue();
  let isChanging = false;

  /** Forgets a server with all pending events. */
  async function forgetLink(before: LinkRow | null, by: CallAuthor): Promise<void> {
    record.setRow(null);
    try {
      await storage.write(() => {
        rows.clear();
        if (before !== null)
          events.append({ kind: 'link_changed', ...by, data: { server: before.server, linked: false } });
      });
    } catch (error) {
      record.setRow(before);
      throw error;
    }
    record.checkUsable();
    deps.leases.drop('none');
  }

  async function storeLink(linked: LinkRow, token: string, by: CallAuthor): Promise<void> {
    await connection.disconnect();
    // Row and token of two accounts never coexist, whenever the engine dies, and neither account learns of the other.
    const before = record.row();
    const isSame = before?.server === linked.server && before.workspace === linked.workspace;
    if (before !== null && !isSame) await forgetLink(before, by);
    tokenFile.write(token);
    await storage.write(() => {
      rows.putLink(linked);
      events.append({ kind: 'link_changed', ...by, data: { server: linked.server, linked: true } });
    });
    record.setRow(linked);
    deps.leases.drop('none');
    deps.setServerUrl(linked.server, by.actor);
  }

  /** Changes of the link run one after another; settings read in between apply afterwards. */
  const changeLink = <T>(change: () => Promise<T>): Promise<T> =>
    enqueue(async () => {
      isChanging = true;
      try {
        return await change();
      } finally {
        isChanging = false;
        deps.applySettings();
      }
    });

  async function linkTo(
    given: { token?: string | undefined; server?: string | undefined },
    by: CallAuthor,
  ): Promise<void> {
    const { server, token } = chooseServer(given, { env: deps.env, configured: config().server.url });
    tokenFile.check({ isFirst: record.row() === null });
    const machine = createServerCalls({ server, token: () => token });
    const answer = await machine
      .call('/v1/workspaces', {
        method: 'POST',
        body: { key: deps.dataId, name: outgoingName(config().workspace.name), version },
        answer: linkAnswer,
        signal: closing,
      })
      .finally(() => machine.close());
    const { workspace, account, person, lease_key: leaseKey } = answer;
    const now = deps.clock.now();
    const at = { linkedAt: now, tokenAt: now, revokedAt: null };
    await storeLink({ server: server.origin, workspace, account, person, leaseKey, ...at }, answer.token, by);
  }

  /** Returns the server that it was linked to; `isTold` is false if it could not be notified. */
  async function unlink(by: CallAuthor): Promise<{ server: string | null; isTold: boolean }> {
    const before = record.row();
    const token = attempt(tokenFile.read);
    await connection.disconnect();
    const isTold = before !== null && token !== null && (await tellUnlinked(before, token, closing));
    attempt(tokenFile.remove);
    await forgetLink(before, by);
    if (config().server.url !== '') deps.setServerUrl(null, by.actor);
    return { server: before?.server ?? null, isTold };
  }

  return {
    link: (given: Parameters<typeof linkTo>[0], by: CallAuthor) => changeLink(() => linkTo(given, by)),
    unlink: (by: CallAuthor) => changeLink(() => unlink(by)),
    /** While true, settings are not applied: row and token may belong to two servers. */
    areRunning: () => isChanging,
    /** Runs after the change in progress. */
    enqueue,
  };
}

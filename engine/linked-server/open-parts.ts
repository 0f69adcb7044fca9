import { systemClock } from '../core/base/clock.ts';
import { asSvcError, type SvcError } from '../core/base/errors.ts';
import type { HostLock } from '../storage/index.ts';
import { createParts, type ServerOptions, type ServerReach } from './create-parts.ts';
import { openServerDatabase, readDatabaseUrl } from './database/open.ts';
import type { ServerParts } from './http/context.ts';
import { checkRootSecret, loadRootSecret } from './secrets.ts';

/** The key of the last public address in the database. */
export const ORIGIN_KEY = 'origin';

/** Opened resources, to be closed again. */
export interface OpenParts {
  parts: ServerParts;
  database: string;
  lost: Promise<SvcError>;
  close(): Promise<void>;
}

/**
 * Opens the database and everything that uses it.
 * @param lock of the folder, if the caller has it already; released as by `openServerDatabase`
 */
export async function openParts(
  options: ServerOptions,
  reach: ServerReach,
  lock?: HostLock,
): Promise<OpenParts> {
  const { folder, env, log, clock = systemClock, tellNewSecret } = options;
  const database = await openServerDatabase(folder, readDatabaseUrl(env), lock === undefined ? {} : { lock });
  try {
    /** Also every hour, to repair failures. */
    const eraseDeleted = (): Promise<void> =>
      database.eraseDeleted().catch((thrown: unknown) => {
        log.warn({ error: asSvcError(thrown).message }, 'deleted data was not yet removed from the files');
      });
    const loaded = loadRootSecret(folder, env);
    const secret = await checkRootSecret(database.db, loaded, folder);
    if (loaded.madeFile !== null) tellNewSecret?.(loaded.madeFile);
    const { parts, guard } = await createParts({ database, secret, clock, eraseDeleted }, options, reach);
    const { chats, deliveries, retention, workspaces } = parts;
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

import { type FileHandle, open } from 'node:fs/promises';
import type { Database } from 'better-sqlite3';
import type { Kysely, Transaction } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import type { Tables } from './tables.ts';

/** Transactions that share the wait for the disk, without blocking the process. */
export interface DeferredSync {
  /** Runs one transaction. Its changes may not be on disk yet: no one must be notified before `sync`. */
  transact<Result>(work: (change: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Resolves once all earlier transactions are on disk. Throws `storage_failed`. */
  sync(): Promise<void>;
}

/** For a database that answers a commit when it is on disk, without blocking this process. */
export const syncAtCommit = (db: Kysely<Tables>): DeferredSync => ({
  transact: (work) => db.transaction().execute(work),
  sync: async () => undefined,
});

/**
 * For SQLite, whose commit waits for the disk within the call: these commit without, and another thread syncs the log
 * file. SQLite reads a log up to the last whole commit, so synced data survives a power loss.
 * @see https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export function deferSqliteSync({
  db,
  sqlite,
  syncFile = (file) => file.datasync(),
}: {
  db: Kysely<Tables>;
  sqlite: Database;
  /** Syncs a file to disk. */
  syncFile?(file: FileHandle): Promise<void>;
}): DeferredSync & { lost: Promise<SvcError>; close(): Promise<void> } {
  const { promise: lost, resolve: lose } = Promise.withResolvers<SvcError>();
  let log: Promise<FileHandle> | undefined;
  let failure: SvcError | undefined;
  return {
    lost,
    transact: (work) =>
      // No one else uses the connection until this is done.
      db.connection().execute(async (connection) => {
        sqlite.exec('PRAGMA synchronous = NORMAL');
        try {
          return await connection.transaction().execute(work);
        } finally {
          sqlite.exec('PRAGMA synchronous = FULL');
        }
      }),
    async sync() {
      try {
        // It exists from the first commit on, as long as the connection is open.
        log ??= open(`${sqlite.name}-wal`, 'r+');
        await syncFile(await log);
      } catch (cause) {
        // The system forgets failed writes, and a later sync would succeed without them.
        failure ??= new SvcError('storage_failed', `the disk failed: ${(cause as Error).message}`, { cause });
        lose(failure);
      }
      if (failure !== undefined) throw failure;
    },
    async close() {
      await log?.then(
        (file) => file.close(),
        () => undefined,
      );
    },
  };
}

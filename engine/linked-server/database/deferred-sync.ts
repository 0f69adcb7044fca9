import { type FileHandle, open } from 'node:fs/promises';
import type { Database } from 'better-sqlite3';
import type { Kysely, Transaction } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import type { Tables } from './tables.ts';

/** Transactions that share the wait for the disk, and do not hold the process while it lasts. */
export interface DeferredSync {
  /** Runs one transaction. What it wrote may not be on disk yet: nobody is to be told of it before `sync`. */
  transact<Result>(work: (change: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Resolves once everything that was transacted before is on disk. Throws `storage_failed`. */
  sync(): Promise<void>;
}

/** For a database that answers a commit when it is on disk, without holding this process. */
export const syncAtCommit = (db: Kysely<Tables>): DeferredSync => ({
  transact: (work) => db.transaction().execute(work),
  sync: async () => undefined,
});

/**
 * For SQLite, whose commit waits for the disk within the call: these commit without, and their log file is synced by another
 * thread. SQLite reads a log up to the last whole commit, so whatever was synced is there after a loss of power.
 * @see https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export function deferSqliteSync({
  db,
  sqlite,
  syncFile = (file) => file.datasync(),
}: {
  db: Kysely<Tables>;
  sqlite: Database;
  /** How a file is brought to the disk. */
  syncFile?(file: FileHandle): Promise<void>;
}): DeferredSync & { lost: Promise<SvcError>; close(): Promise<void> } {
  const { promise: lost, resolve: lose } = Promise.withResolvers<SvcError>();
  let log: Promise<FileHandle> | undefined;
  let failure: SvcError | undefined;
  return {
    lost,
    transact: (work) =>
      // Nobody else uses the connection until this is done with it.
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
        // It is there from the first commit on, as long as the connection is open.
        log ??= open(`${sqlite.name}-wal`, 'r+');
        await syncFile(await log);
      } catch (cause) {
        // What the system could not write it forgets, and a later sync would succeed without it.
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

import { closeSync, fsyncSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { syncFolder } from '../../core/base/atomic-file.ts';
import { SvcError } from '../../core/base/errors.ts';
import { makePrivateFile, openPrivate, withPrivate } from '../../core/base/private-files.ts';
import { type HostLock, holdHostLock } from '../../storage/index.ts';
import { holdDatabase } from './advisory-lock.ts';
import { type DeferredSync, deferSqliteSync, syncAtCommit } from './deferred-sync.ts';
import { isSchemaOlder, migrateServerDatabase, readSchemaNumber, SERVER_SCHEMA } from './migrations.ts';
import { PipelinedDialect } from './pipelined-dialect.ts';
import { keepStatements } from './statement-cache.ts';
import type { Tables } from './tables.ts';
import type { TokenChanges } from './token-changes.ts';

/** The open database of a linked server, locked by this process. */
export interface ServerDatabase {
  db: Kysely<Tables>;
  /** For frequent concurrent writes. */
  deferred: DeferredSync;
  /** Runs a long read while everything else continues: SQLite has one connection, which others would wait for. */
  readApart<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** The display name: a file, or the address of PostgreSQL without its password. */
  name: string;
  /** Resolves when this process must no longer use the database: another server has taken it, or its disk has failed. */
  lost: Promise<SvcError>;
  /** Null for PostgreSQL, whose lock may move to another server: then tokens are checked at every request. */
  tokenChanges: TokenChanges | null;
  /**
   * Removes deleted data from the files as well: until then it is in SQLite's log, and perhaps in the file itself.
   * Data that an export is reading stays until the next time.
   */
  eraseDeleted(): Promise<void>;
  close(): Promise<void>;
}

/** How long to wait for another program's lock on the file, ms. */
const BUSY_MS = 5000;

const SERVER_WORDS = {
  message: (pid: number | null) =>
    `a server already runs on this folder${pid === null ? '' : ` (pid ${pid})`}`,
  hint: 'stop it first; commands such as svc server person add go through it',
};

/** Returns the address of PostgreSQL; null for SQLite. Throws `usage`. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string | null {
  const { DATABASE_URL: url = '' } = env;
  if (url === '') return null;
  if (/^postgres(?:ql)?:\/\//.test(url)) return url;
  throw new SvcError('usage', 'DATABASE_URL is not an address of PostgreSQL', {
    hint: 'postgresql://user@host/database, or leave it unset for SQLite',
  });
}

/** Locks the existing folder of a server for this process. Throws `already_running` with the holder. */
export const holdServerFolder = (folder: string): HostLock => holdHostLock(folder, SERVER_WORDS);

/**
 * Opens and migrates the database: PostgreSQL at `url`, otherwise `server.db` in `folder`, which exists. Throws
 * `already_running` with the holder, `storage_newer`, `data_folder_unknown`, `storage_failed`.
 * @param lock of the folder; released with the database, and if it cannot be opened
 */
export async function openServerDatabase(
  folder: string,
  url: string | null,
  {
    steps = SERVER_SCHEMA,
    lock = holdServerFolder(folder),
  }: { steps?: typeof SERVER_SCHEMA; lock?: HostLock } = {},
): Promise<ServerDatabase> {
  let opened: ServerDatabase | undefined;
  try {
    opened = url === null ? await openSqlite(folder, steps) : await openPostgres(url);
    await migrateServerDatabase(opened.db, steps);
  } catch (error) {
    await opened?.close();
    lock.release();
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_failed', `cannot open the server's database: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const { close } = opened;
  return {
    ...opened,
    async close() {
      await close();
      lock.release();
    },
  };
}

async function openSqlite(folder: string, steps: typeof SERVER_SCHEMA): Promise<ServerDatabase> {
  const file = join(folder, 'server.db');
  makePrivateFile(file);
  const { default: DatabaseFile } = await import('better-sqlite3');
  const sqlite = new DatabaseFile(file, { timeout: BUSY_MS });
  sqlite.pragma('trusted_schema = OFF');
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  // In pages, so 16 MB of log. Each checkpoint blocks the process while the disk writes.
  sqlite.pragma('wal_autocheckpoint = 4000');
  sqlite.pragma('foreign_keys = ON');
  // Deleted data is overwritten, not only forgotten.
  sqlite.pragma('secure_delete = ON');
  const tokenChanges: TokenChanges = { count: 0 };
  const database = keepStatements(sqlite, tokenChanges);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  if (await isSchemaOlder(db, steps))
    await copyDatabase(sqlite, `${file}.schema-${await readSchemaNumber(db)}`);
  // The lock on its folder is held as long as this process lives.
  const deferred = deferSqliteSync({ db, sqlite });
  return {
    db,
    deferred,
    name: file,
    lost: deferred.lost,
    tokenChanges,
    // Waits for the one connection: within a transaction there is no checkpoint.
    eraseDeleted: () => db.connection().execute(async () => void sqlite.pragma('wal_checkpoint(TRUNCATE)')),
    async readApart(work) {
      const apart = new DatabaseFile(file, { readonly: true, timeout: BUSY_MS });
      const reading = new Kysely<Tables>({ dialect: new SqliteDialect({ database: apart }) });
      return work(reading).finally(() => reading.destroy());
    },
    async close() {
      await deferred.close();
      await db.destroy();
    },
  };
}

/**
 * Copies a database with its log, completely or not at all. The copy replaces an earlier one: a person who went back
 * to an older version has written more since.
 */
async function copyDatabase(sqlite: Database, copy: string): Promise<void> {
  const draft = `${copy}.part`;
  rmSync(draft, { force: true });
  closeSync(openPrivate(draft, 'new'));
  await sqlite.backup(draft);
  withPrivate(draft, 'change', fsyncSync);
  renameSync(draft, copy);
  syncFolder(dirname(copy));
}

async function openPostgres(url: string): Promise<ServerDatabase> {
  const { default: pg } = await import('pg');
  // PostgreSQL's bigint arrives as text, since it may exceed a number; ours are times and counts.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  };
  const own = `svc-server, ${hostname()}, pid ${process.pid}`.slice(0, 63);
  const options = { connectionString: url, types, application_name: own, connectionTimeoutMillis: BUSY_MS };
  const held = await holdDatabase(() => new pg.Client(options));
  const pool = new pg.Pool({ ...options, max: 8, pipeline: true });
  pool.on('error', () => undefined);
  const db = new Kysely<Tables>({ dialect: new PipelinedDialect({ pool }) });
  await sql`SELECT 1`.execute(db);
  return {
    db,
    deferred: syncAtCommit(db),
    name: held.name,
    lost: held.lost,
    tokenChanges: null,
    readApart: (work) => work(db),
    // PostgreSQL does this by itself when it vacuums.
    eraseDeleted: async () => undefined,
    async close() {
      await db.destroy();
      await held.release();
    },
  };
}

import { closeSync, copyFileSync, existsSync, fchmodSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { SvcError } from '../../base/errors.ts';
import { openPrivate } from '../../base/private-files.ts';
import { holdHostLock } from '../../storage/index.ts';
import { migrateServerDatabase, NEWEST_SCHEMA, readSchemaNumber } from './migrations.ts';
import { keepStatements } from './statement-cache.ts';
import type { Tables } from './tables.ts';

/** The open database of a linked server, held by this process alone. */
export interface ServerDatabase {
  db: Kysely<Tables>;
  /** For people: a file, or the address of PostgreSQL without its password. */
  name: string;
  close(): Promise<void>;
}

/** How long a lock of another program on the file is waited for, ms. */
const BUSY_MS = 5000;

/** Any number that other programs of the same database do not use: "svc server" in ASCII, cut to 63 bits. */
const ADVISORY_LOCK = 0x737663207365n;

const SERVER_WORDS = {
  message: (pid: number | null) =>
    `a server already runs on this folder${pid === null ? '' : ` (pid ${pid})`}`,
  hint: 'stop it first; commands such as svc server person add go through it',
};

/** Where PostgreSQL is; null for SQLite. Throws `usage`. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string | null {
  const { DATABASE_URL: url = '' } = env;
  if (url === '') return null;
  if (/^postgres(?:ql)?:\/\//.test(url)) return url;
  throw new SvcError('usage', 'DATABASE_URL is not an address of PostgreSQL', {
    hint: 'postgresql://user@host/database, or leave it unset for SQLite',
  });
}

/**
 * Opens and migrates the database: PostgreSQL at `url`, else `server.db` in `folder`, which exists. Throws
 * `already_running` with who holds it, `storage_newer`, `storage_failed`.
 */
export async function openServerDatabase(folder: string, url: string | null): Promise<ServerDatabase> {
  const lock = holdHostLock(folder, SERVER_WORDS);
  let opened: ServerDatabase | undefined;
  try {
    opened = url === null ? await openSqlite(folder) : await openPostgres(url);
    await migrateServerDatabase(opened.db);
  } catch (error) {
    await opened?.close();
    lock.release();
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_failed', `cannot open the server's database: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const { db, name, close } = opened;
  return {
    db,
    name,
    async close() {
      await close();
      lock.release();
    },
  };
}

async function openSqlite(folder: string): Promise<ServerDatabase> {
  const file = join(folder, 'server.db');
  const fd = openPrivate(file, 'add');
  fchmodSync(fd, 0o600);
  closeSync(fd);
  const { default: Database } = await import('better-sqlite3');
  const sqlite = new Database(file, { timeout: BUSY_MS });
  sqlite.pragma('trusted_schema = OFF');
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  // What was deleted is overwritten, not only forgotten.
  sqlite.pragma('secure_delete = ON');
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: keepStatements(sqlite) }) });
  const found = await readSchemaNumber(db);
  if (found > 0 && found < NEWEST_SCHEMA) {
    sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const copy = `${file}.schema-${found}`;
    if (!existsSync(copy)) copyFileSync(file, copy);
  }
  return { db, name: file, close: () => db.destroy() };
}

async function openPostgres(url: string): Promise<ServerDatabase> {
  const { default: pg } = await import('pg');
  const { PostgresDialect } = await import('kysely');
  // PostgreSQL's bigint arrives as text, since it may be larger than a number holds; ours are times and counts.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  };
  const own = `svc-server, ${hostname()}, pid ${process.pid}`.slice(0, 63);
  const options = { connectionString: url, types, application_name: own, connectionTimeoutMillis: BUSY_MS };
  const holder = new pg.Client(options);
  // A lost connection is told by the next query on it.
  holder.on('error', () => undefined);
  await holder.connect();
  const held = await holder.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [
    ADVISORY_LOCK.toString(),
  ]);
  if (held.rows[0]?.held !== true) {
    const others = await holder.query<{ application_name: string }>(
      `SELECT activity.application_name FROM pg_locks AS locks JOIN pg_stat_activity AS activity USING (pid)
       WHERE locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1
         AND (locks.classid::bigint << 32 | locks.objid::bigint) = $1
         AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [ADVISORY_LOCK.toString()],
    );
    await holder.end();
    throw new SvcError(
      'already_running',
      `a server already runs on this database: ${others.rows[0]?.application_name ?? 'it does not say where'}`,
      { hint: SERVER_WORDS.hint },
    );
  }
  const pool = new pg.Pool({ ...options, max: 8 });
  pool.on('error', () => undefined);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await sql`SELECT 1`.execute(db);
  const { host, database } = holder;
  return {
    db,
    name: `PostgreSQL ${database ?? ''} on ${host}`,
    async close() {
      await db.destroy();
      await holder.end();
    },
  };
}

import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import { NEWEST_SCHEMA, SCHEMA_KEY } from '../database/migrations.ts';
import type { Tables } from '../database/tables.ts';
import { ROOT_CHECK_KEY } from '../secrets.ts';

// All that a server keeps as lines of JSON: a first line that says of what it is, a line for each row, a last one that says how
// many there were. It is a backup, and the way between SQLite and PostgreSQL.

/** Of the first line. */
export const EXPORT_FORMAT = 1;
const ROWS_AT_ONCE = 200;

/** Each table after those that it refers to, with its key, by which its rows are sorted. */
export const KEYS: Record<keyof Tables, readonly string[]> = {
  meta: ['key'],
  plan_values: ['plan', 'key'],
  accounts: ['id'],
  people: ['id'],
  invitations: ['token_hash'],
  browser_sessions: ['token_hash'],
  failures: ['key'],
  machines: ['id'],
  workspaces: ['id'],
  workspace_events: ['workspace_id', 'id'],
  pending_decisions: ['workspace_id', 'decision_id'],
  commands: ['id'],
  device_requests: ['device_hash'],
  changes: ['id'],
  addons: ['account_id', 'addon'],
  targets: ['id'],
  deliveries: ['id'],
  bots: ['kind'],
  chat_memory: ['kind', 'key'],
  chat_users: ['kind', 'user_id'],
  chat_codes: ['code_hash'],
  chat_channels: ['id'],
  chat_messages: ['id'],
  chat_tickets: ['ticket_hash'],
  used_signatures: ['signature'],
  usage_days: ['workspace_id', 'day'],
};
export const TABLE_ORDER = Object.keys(KEYS) as (keyof Tables)[];

/** Reads every table as it is at one moment, a part of it at a time. */
async function writeTables(db: Kysely<Tables>, write: (line: object) => void): Promise<number> {
  let rows = 0;
  for (const table of TABLE_ORDER) {
    // A cursor would be another thing in each database; what follows a key in a sorted table is the same in both.
    const columns = sql.join(KEYS[table].map((column) => sql.ref(column)));
    let last: Record<string, unknown> | undefined;
    for (;;) {
      const key = sql.join(KEYS[table].map((column) => last?.[column]));
      const rest = last === undefined ? sql`` : sql`WHERE (${columns}) > (${key})`;
      const part = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(table)} ${rest}
        ORDER BY ${columns} LIMIT ${sql.lit(ROWS_AT_ONCE)}`.execute(db);
      last = part.rows.at(-1);
      for (const each of part.rows) {
        if (table === 'meta' && each.key === SCHEMA_KEY) continue;
        write({ table, row: each });
        rows += 1;
      }
      if (part.rows.length < ROWS_AT_ONCE) break;
      // SQLite answers at once each time: what else the process does has its turn.
      await nextTick();
    }
  }
  return rows;
}

/**
 * Writes everything to a new file that only its owner reads. What is encrypted stays so; the root secret is not in it.
 * Throws `exists`, `storage_failed`.
 */
export async function exportDatabase(
  db: Kysely<Tables>,
  file: string,
  now: number,
): Promise<{ rows: number }> {
  let fd: number;
  try {
    fd = openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new SvcError('exists', `${file} already exists`, { hint: 'choose another name' });
    throw new SvcError('storage_failed', `cannot write ${file}: ${code}`, { cause: error });
  }
  try {
    const write = (line: object): void => writeFileSync(fd, `${JSON.stringify(line)}\n`);
    const rows = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (snapshot) => {
        const check = await snapshot
          .selectFrom('meta')
          .select('value')
          .where('key', '=', ROOT_CHECK_KEY)
          .executeTakeFirstOrThrow();
        write({
          svc_server: EXPORT_FORMAT,
          schema: NEWEST_SCHEMA,
          root_secret_check: check.value,
          at: new Date(now).toISOString(),
        });
        return writeTables(snapshot, write);
      });
    write({ rows });
    fsyncSync(fd);
    return { rows };
  } catch (error) {
    rmSync(file, { force: true });
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_failed', `the export was not written: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    closeSync(fd);
  }
}

import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import { NEWEST_SCHEMA, SCHEMA_KEY } from '../database/migrations.ts';
import type { Tables } from '../database/tables.ts';
import { ROOT_CHECK_KEY } from '../secrets.ts';

// All data of a server as lines of JSON: a header, a line for each row, and a last line with their count. It is a
// backup, and the way between SQLite and PostgreSQL.

/** The type in the first line. */
export const EXPORT_FORMAT = 1;
const ROWS_AT_ONCE = 200;

/** Tables in order of their references, with the key that their rows are sorted by. */
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
  workspace_sessions: ['workspace_id'],
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

/** Reads every table at one point in time, in parts. */
async function writeTables(db: Kysely<Tables>, write: (line: object) => void): Promise<number> {
  let rows = 0;
  for (const table of TABLE_ORDER) {
    // Cursors differ between databases; the rows after a key in a sorted table are the same in both.
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
      // SQLite answers synchronously each time: other work of the process gets its turn.
      await nextTick();
    }
  }
  return rows;
}

/**
 * Writes everything to a new file that only its owner can read. Encrypted values stay encrypted; the root secret is
 * not included. Throws `exists`, `storage_failed`.
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
    const writeExportLine = (line: object): void => writeFileSync(fd, `${JSON.stringify(line)}\n`);
    const rows = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (snapshot) => {
        const check = await snapshot
          .selectFrom('meta')
          .select('value')
          .where('key', '=', ROOT_CHECK_KEY)
          .executeTakeFirstOrThrow();
        writeExportLine({
          svc_server: EXPORT_FORMAT,
          schema: NEWEST_SCHEMA,
          root_secret_check: check.value,
          at: new Date(now).toISOString(),
        });
        return writeTables(snapshot, writeExportLine);
      });
    writeExportLine({ rows });
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

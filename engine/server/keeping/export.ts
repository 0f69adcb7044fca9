import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { SvcError } from '../../base/errors.ts';
import { NEWEST_SCHEMA, SCHEMA_KEY } from '../database/migrations.ts';
import type { Tables } from '../database/tables.ts';
import { ROOT_CHECK_KEY } from '../secrets.ts';

// All that a server keeps as lines of JSON: a first line that says of what it is, a line for each row, a last one that says how
// many there were. It is a backup, and the way between SQLite and PostgreSQL.

const FORMAT = 1;
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
};
const ORDER = Object.keys(KEYS) as (keyof Tables)[];

const head = z.object({
  svc_server: z.literal(FORMAT),
  schema: z.int(),
  /** Of the root secret with which secrets in it are encrypted. */
  root_secret_check: z.string(),
  at: z.string(),
});
const value = z.union([z.string(), z.number(), z.null()]);
const row = z.object({ table: z.enum(ORDER), row: z.record(z.string(), value) });
const end = z.object({ rows: z.int() });

/** Reads every table as it is at one moment, a part of it at a time. */
async function writeTables(db: Kysely<Tables>, write: (line: object) => void): Promise<number> {
  let rows = 0;
  for (const table of ORDER) {
    // A cursor would be another thing in each database; parts of a sorted table are the same in both.
    const columns = KEYS[table].map((column) => sql.ref(column));
    for (let offset = 0; ; offset += ROWS_AT_ONCE) {
      const part = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(table)}
        ORDER BY ${sql.join(columns)} LIMIT ${ROWS_AT_ONCE} OFFSET ${offset}`.execute(db);
      for (const each of part.rows) {
        if (table === 'meta' && each.key === SCHEMA_KEY) continue;
        write({ table, row: each });
        rows += 1;
      }
      if (part.rows.length < ROWS_AT_ONCE) break;
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
      throw new SvcError('exists', `${file} is there already`, { hint: 'choose another name' });
    throw new SvcError('storage_failed', `cannot write ${file}: ${code}`, { cause: error });
  }
  try {
    const write = (line: object): void => void writeSync(fd, `${JSON.stringify(line)}\n`);
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
          svc_server: FORMAT,
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

const damaged = (line: number, why: string, cause?: unknown): SvcError =>
  new SvcError('body_invalid', `line ${line} of the export: ${why}; nothing was imported`, {
    ...(cause === undefined ? {} : { cause }),
  });

function parseLine<S extends z.ZodType>(schema: S, text: string, line: number): z.output<S> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw damaged(line, 'it is not JSON', error);
  }
  const read = schema.safeParse(parsed);
  if (!read.success) throw damaged(line, 'it is not what an export has there');
  return read.data;
}

/**
 * Fills an empty database with an export, whole or not at all.
 * @param rootCheck of the secret that this server has
 * @throws `conflict` where the database has something, `key_mismatch`, `storage_newer`, `body_invalid` with the line
 */
export async function importDatabase(
  db: Kysely<Tables>,
  file: string,
  rootCheck: string,
): Promise<{ rows: number }> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new SvcError('storage_failed', `cannot read ${file}: ${error.code}`, { cause: error });
  });
  try {
    return await db.transaction().execute(async (change) => {
      const somebody = await change.selectFrom('accounts').select('id').limit(1).executeTakeFirst();
      if (somebody !== undefined)
        throw new SvcError('conflict', 'the database is not empty', {
          hint: 'import into a new data folder, or an empty PostgreSQL database',
        });
      await change.deleteFrom('meta').where('key', '!=', SCHEMA_KEY).execute();
      let at = 0;
      let rows = 0;
      let told: number | null = null;
      let table: keyof Tables | null = null;
      let waiting: Record<string, unknown>[] = [];
      const flush = async (): Promise<void> => {
        if (table === null || waiting.length === 0) return;
        try {
          await change
            .insertInto(table)
            .values(waiting as never)
            .execute();
        } catch (error) {
          throw damaged(at, `a row of ${table} does not fit: ${(error as Error).message}`, error);
        }
        waiting = [];
      };
      for await (const text of handle.readLines()) {
        at += 1;
        if (told !== null) throw damaged(at, 'something follows the last line');
        if (at === 1) {
          checkHead(parseLine(head, text, at), rootCheck);
        } else if (text.startsWith('{"rows"')) {
          told = parseLine(end, text, at).rows;
        } else {
          const read = parseLine(row, text, at);
          if (read.table !== table || waiting.length === ROWS_AT_ONCE) await flush();
          table = read.table;
          waiting.push(read.row);
          rows += 1;
        }
      }
      await flush();
      if (told !== rows)
        throw damaged(at, told === null ? 'the end is missing' : `${told} rows were told, ${rows} are there`);
      return { rows };
    });
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_failed', `${file}: ${(error as Error).message}`, { cause: error });
  } finally {
    await handle.close();
  }
}

function checkHead({ schema, root_secret_check }: z.output<typeof head>, rootCheck: string): void {
  if (schema !== NEWEST_SCHEMA)
    throw new SvcError(
      'storage_newer',
      `the export has schema ${schema}, and this version ${NEWEST_SCHEMA}`,
      {
        hint: 'export and import with the same version',
      },
    );
  if (root_secret_check !== rootCheck)
    throw new SvcError('key_mismatch', 'the export was made with another root secret', {
      hint: 'put its server.key into the data folder, or set its SVC_LEASE_SECRET, then import again',
    });
}

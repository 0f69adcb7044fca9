import { open } from 'node:fs/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { SvcError } from '../../core/base/errors.ts';
import { NEWEST_SCHEMA, SCHEMA_KEY } from '../database/migrations.ts';
import type { Tables } from '../database/tables.ts';
import { ROOT_CHECK_KEY } from '../secrets.ts';
import { EXPORT_FORMAT, TABLE_ORDER } from './export.ts';

const ROWS_AT_ONCE = 200;

const head = z.object({
  svc_server: z.literal(EXPORT_FORMAT),
  schema: z.int(),
  /** The check value of the root secret that its secrets are encrypted with. */
  root_secret_check: z.string(),
  at: z.string(),
});
const value = z.union([z.string(), z.number(), z.null()]);
const row = z.object({ table: z.enum(TABLE_ORDER), row: z.record(z.string(), value) });
const end = z.object({ rows: z.int() });

type Row = z.output<typeof row>;

const damaged = (place: string, why: string, cause?: unknown): SvcError =>
  new SvcError('body_invalid', `${place} of the export: ${why}; nothing was imported`, {
    ...(cause === undefined ? {} : { cause }),
  });

function parseLine<S extends z.ZodType>(schema: S, text: string, line: number): z.output<S> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw damaged(`line ${line}`, 'it is not JSON', error);
  }
  const read = schema.safeParse(parsed);
  if (!read.success) throw damaged(`line ${line}`, 'it is not what an export contains there');
  return read.data;
}

/**
 * Fills an empty database from an export, completely or not at all.
 * @param rootCheck of this server's secret
 * @throws `conflict` if the database is not empty, `key_mismatch`, `storage_newer`, `body_invalid` with the line
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
      await requireEmpty(change);
      await change.deleteFrom('meta').where('key', '!=', SCHEMA_KEY).execute();
      const filling = await createFilling(change, rootCheck);
      let at = 0;
      let told: number | null = null;
      for await (const text of handle.readLines()) {
        at += 1;
        if (told !== null) throw damaged(`line ${at}`, 'there is data after the last line');
        if (at === 1) checkHead(parseLine(head, text, at), rootCheck);
        else if (text.startsWith('{"rows"')) told = parseLine(end, text, at).rows;
        else await filling.add(parseLine(row, text, at), at);
      }
      const rows = await filling.finish();
      if (told !== rows)
        throw damaged(
          at === 0 ? 'the first line' : `line ${at}`,
          told === null ? 'the end is missing' : `${told} rows were declared, but there are ${rows}`,
        );
      return { rows };
    });
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_failed', `${file}: ${(error as Error).message}`, { cause: error });
  } finally {
    await handle.close();
  }
}

/** Throws `conflict` if the server has been set up: a mixture would be neither. */
async function requireEmpty(change: Transaction<Tables>): Promise<void> {
  for (const table of ['accounts', 'plan_values', 'bots'] as const) {
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} LIMIT 1`.execute(change);
    if (rows.length > 0)
      throw new SvcError('conflict', 'the database is not empty', {
        hint: 'import into a new data folder, or an empty PostgreSQL database',
      });
  }
}

/** Collects rows, and writes those of a table together. */
async function createFilling(change: Transaction<Tables>, rootCheck: string) {
  const columns = await readColumns(change);
  let waiting: { table: Row['table']; rows: Row['row'][]; first: number; last: number } | null = null;
  let rows = 0;

  async function flushRows(): Promise<void> {
    if (waiting === null) return;
    const { table, rows: values, first, last } = waiting;
    waiting = null;
    try {
      await change
        .insertInto(table)
        .values(values as never)
        .execute();
    } catch (error) {
      const place = first === last ? `line ${first}` : `lines ${first} to ${last}`;
      throw damaged(place, `a row of ${table} is invalid: ${(error as Error).message}`, error);
    }
  }

  return {
    async add({ table, row: values }: Row, at: number): Promise<void> {
      const fault = findFault(columns.get(table), values);
      if (fault !== null) throw damaged(`line ${at}`, `a row of ${table} is invalid: ${fault}`);
      if (table === 'meta' && values.key === ROOT_CHECK_KEY && values.value !== rootCheck)
        throw damaged(`line ${at}`, 'its root secret differs from the one in the first line');
      if (waiting?.table !== table || waiting.rows.length === ROWS_AT_ONCE) await flushRows();
      waiting ??= { table, rows: [], first: at, last: at };
      waiting.rows.push(values);
      waiting.last = at;
      rows += 1;
    },
    async finish(): Promise<number> {
      await flushRows();
      return rows;
    },
  };
}

type Columns = ReadonlyMap<string, 'text' | 'integer'>;

/** The type of each column: SQLite would accept anything. */
async function readColumns(change: Transaction<Tables>): Promise<ReadonlyMap<string, Columns>> {
  const tables = await change.introspection.getTables();
  return new Map(
    tables.map(({ name, columns }) => [
      name,
      new Map(columns.map((each) => [each.name, /int/i.test(each.dataType) ? 'integer' : 'text'])),
    ]),
  );
}

/** Explains what is wrong with a row, as the end of a sentence; null for nothing. */
function findFault(columns: Columns | undefined, values: Row['row']): string | null {
  for (const [name, held] of Object.entries(values)) {
    const kind = columns?.get(name);
    if (kind === undefined) return `${JSON.stringify(name)} does not exist`;
    if (held === null) continue;
    if (kind === 'integer' && !Number.isSafeInteger(held)) return `${name} is not an integer`;
    if (kind === 'text' && (typeof held !== 'string' || held.includes('\0'))) return `${name} is not text`;
  }
  for (const name of columns?.keys() ?? []) if (!Object.hasOwn(values, name)) return `${name} is missing`;
  return null;
}

function checkHead({ schema, root_secret_check }: z.output<typeof head>, rootCheck: string): void {
  if (schema !== NEWEST_SCHEMA)
    throw new SvcError(
      'storage_newer',
      `the export has schema ${schema}, but this version has ${NEWEST_SCHEMA}`,
      {
        hint: 'export and import with the same version',
      },
    );
  if (root_secret_check !== rootCheck)
    throw new SvcError('key_mismatch', 'the export was made with another root secret', {
      hint: 'put its server.key into the data folder, or set its SVC_LEASE_SECRET, then import again',
    });
}

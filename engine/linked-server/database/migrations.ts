import { type Kysely, sql } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import { FIRST_SCHEMA_NUMBER } from '../../storage/index.ts';
import { addSessions } from './add-sessions.ts';
import { createTables } from './create-tables.ts';
import type { Tables } from './tables.ts';

/** One step of the schema. A released step is never changed; the next one follows it. */
type SchemaStep = (schema: Kysely<Tables>) => Promise<void>;

export const SERVER_SCHEMA: readonly SchemaStep[] = [createTables, addSessions];

/** The location of the schema's number. */
export const SCHEMA_KEY = 'schema';

const numberAfter = (steps: readonly SchemaStep[]): number => FIRST_SCHEMA_NUMBER + steps.length - 1;

/** The number of the newest step. */
export const NEWEST_SCHEMA = numberAfter(SERVER_SCHEMA);

/** Returns the schema of an open database; 0 for a new one. */
export async function readSchemaNumber(db: Kysely<Tables>): Promise<number> {
  await sql`CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value text NOT NULL)`.execute(db);
  const row = await db.selectFrom('meta').select('value').where('key', '=', SCHEMA_KEY).executeTakeFirst();
  return Number(row?.value ?? 0);
}

/** Reports whether steps of the schema are missing in a database with content. */
export async function isSchemaOlder(db: Kysely<Tables>, steps: readonly SchemaStep[]): Promise<boolean> {
  const found = await readSchemaNumber(db);
  return found >= FIRST_SCHEMA_NUMBER && found < numberAfter(steps);
}

/**
 * Updates the schema, one transaction for each step. Throws `storage_newer`, and `data_folder_unknown` for a database
 * of a development version, without changing anything.
 */
export async function migrateServerDatabase(db: Kysely<Tables>, steps = SERVER_SCHEMA): Promise<void> {
  const found = await readSchemaNumber(db);
  if (found > 0 && found < FIRST_SCHEMA_NUMBER)
    throw new SvcError(
      'data_folder_unknown',
      "the server's database was written by a development version of svc; nothing in it was used",
      { hint: 'start the server with another --data folder, or another DATABASE_URL' },
    );
  if (found > numberAfter(steps))
    throw new SvcError(
      'storage_newer',
      `the server's database has schema ${found}, but this version knows ${numberAfter(steps)}`,
      { hint: 'start it with the version that wrote it, or a newer one' },
    );
  for (const [index, step] of steps.entries()) {
    const number = FIRST_SCHEMA_NUMBER + index;
    if (number <= found) continue;
    await db.transaction().execute(async (change) => {
      await step(change);
      await change
        .insertInto('meta')
        .values({ key: SCHEMA_KEY, value: String(number) })
        .onConflict((same) => same.column('key').doUpdateSet({ value: String(number) }))
        .execute();
    });
  }
}

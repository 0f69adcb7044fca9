import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import {
  migrateServerDatabase,
  NEWEST_SCHEMA,
  readSchemaNumber,
} from '../../../engine/linked-server/database/migrations.ts';
import { openServerDatabase } from '../../../engine/linked-server/database/open.ts';
import type { Tables } from '../../../engine/linked-server/database/tables.ts';
import { KEYS } from '../../../engine/linked-server/keeping/export.ts';
import { temporaryFolder } from '../../support/git.ts';
import { onBothDatabases } from '../../support/linked-server.ts';

const ROWS = 10_000;
const ROWS_AT_ONCE = 500;
/** First schema in which targets name workspaces by id. */
const IDS_IN_TARGETS = 5;
/** First schema in which pending decisions have an owner and a start time. */
const DECISIONS_IN_ORDER = 8;
/** First schema in which terminals' codes are counted by network. */
const CODES_BY_NETWORK = 9;

type Row = Record<string, string | number>;
type Content = Map<keyof Tables, Row[]>;

/** Text columns that refer to a row of another table. */
const REFERS: Record<string, string> = {
  account_id: 'accounts',
  person_id: 'people',
  workspace_id: 'workspaces',
  target_id: 'targets',
  channel_id: 'chat_channels',
};

/** A database without any schema steps. */
function openBare(folder: string, url: string | undefined): Kysely<Tables> {
  if (url === undefined) {
    const database = new Database(join(folder, 'server.db'));
    database.pragma('journal_mode = WAL');
    return new Kysely({ dialect: new SqliteDialect({ database }) });
  }
  return new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
}

/** Returns each table with its columns; tables that others refer to come first. */
async function listTables(
  db: Kysely<Tables>,
): Promise<[keyof Tables, { name: string; isText: boolean }[]][]> {
  const found = await db.introspection.getTables();
  return (Object.keys(KEYS) as (keyof Tables)[]).flatMap((name) => {
    const columns = found.find((table) => table.name === name)?.columns;
    if (columns === undefined || name === 'meta') return [];
    return [
      [name, columns.map((each) => ({ name: each.name, isText: each.dataType.toLowerCase() === 'text' }))],
    ];
  });
}

/** Returns a row in which every field names its table and column. */
function makeRow(table: string, columns: readonly { name: string; isText: boolean }[], index: number): Row {
  const fields = columns.map(({ name, isText }): [string, string | number] => {
    if (!isText) return [name, index];
    if (table === 'pending_decisions' && name === 'body')
      return [name, JSON.stringify({ since: new Date(index).toISOString() })];
    if (table === 'targets' && name === 'workspaces')
      return [name, JSON.stringify([`workspaces name ${index}`])];
    const other = REFERS[name];
    return [name, other === undefined ? `${table} ${name} ${index}` : `${other} id ${index}`];
  });
  return Object.fromEntries(fields);
}

async function fill(db: Kysely<Tables>): Promise<void> {
  const tables = await listTables(db);
  const each = Math.ceil(ROWS / tables.length);
  for (const [table, columns] of tables)
    for (let first = 0; first < each; first += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, each - first);
      const rows = Array.from({ length: count }, (_, at) => makeRow(table, columns, first + at));
      await db
        .insertInto(table)
        .values(rows as never)
        .execute();
    }
}

async function read(db: Kysely<Tables>): Promise<Content> {
  const content: Content = new Map();
  for (const [table] of await listTables(db)) {
    const columns = KEYS[table].map((column) => sql.ref(column));
    const { rows } = await sql<Row>`SELECT * FROM ${sql.table(table)} ORDER BY ${sql.join(columns)}`.execute(
      db,
    );
    // PostgreSQL returns large numbers as text by default.
    content.set(
      table,
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            /^\d+$/.test(`${value}`) ? Number(value) : value,
          ]),
        ),
      ),
    );
  }
  return content;
}

/** Returns the rows of a table as the newest schema has them. */
function expectedOf(schema: number, table: keyof Tables, rows: readonly Row[]): readonly Row[] {
  if (table === 'targets' && schema < IDS_IN_TARGETS)
    return rows.map((row) => ({
      ...row,
      workspaces: `${row.workspaces}`.replace('workspaces name', 'workspaces id'),
    }));
  if (table === 'device_requests' && schema < CODES_BY_NETWORK)
    return rows.map((row) => ({ ...row, network: row.address! }));
  if (table === 'pending_decisions' && schema < DECISIONS_IN_ORDER)
    return rows.map((row) => ({
      ...row,
      account_id: `${row.workspace_id}`.replace('workspaces', 'accounts'),
      since: Number(row.position),
    }));
  return rows;
}

onBothDatabases((_start, makeDatabase) => {
  for (let schema = 1; schema < NEWEST_SCHEMA; schema += 1)
    it(`10,000 rows of schema ${schema} are unchanged in the newest one`, async () => {
      const folder = temporaryFolder('server-');
      const { DATABASE_URL: url } = await makeDatabase();
      const old = openBare(folder, url);
      await migrateServerDatabase(old, schema);
      await fill(old);
      const before = await read(old);
      await old.destroy();
      const { db, close } = await openServerDatabase(folder, url ?? null);
      try {
        assert.equal(await readSchemaNumber(db), NEWEST_SCHEMA);
        const after = await read(db);
        let rows = 0;
        for (const [table, found] of after) {
          const expected = expectedOf(schema, table, before.get(table) ?? []);
          assert.deepEqual(found, expected, table);
          rows += found.length;
        }
        assert.ok(rows >= ROWS);
      } finally {
        await close();
      }
      const copy = join(folder, `server.db.schema-${schema}`);
      assert.equal(existsSync(copy), url === undefined);
      if (url !== undefined) return;
      await checkCopy(copy, schema, before);
    });
});

/** Checks that a copy has the old schema and all its rows. */
async function checkCopy(
  copy: string,
  schema: number,
  before: Awaited<ReturnType<typeof read>>,
): Promise<void> {
  const kept = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(copy) }) });
  try {
    assert.equal(await readSchemaNumber(kept), schema);
    assert.deepEqual(await read(kept), before);
  } finally {
    await kept.destroy();
  }
}

it('the copy before a migration contains everything, and overwrites no file', async () => {
  const folder = temporaryFolder('server-');
  const schema = NEWEST_SCHEMA - 1;
  const old = openBare(folder, undefined);
  await migrateServerDatabase(old, schema);
  // A reader keeps the file unchanged, and later changes in the log.
  const reader = new Database(join(folder, 'server.db'));
  reader.pragma('journal_mode = WAL');
  reader.exec('BEGIN; SELECT * FROM meta');
  await fill(old);
  const before = await read(old);
  const copy = join(folder, `server.db.schema-${schema}`);
  // Left by a start that was killed, or by an old one.
  writeFileSync(copy, 'half of a database');
  writeFileSync(`${copy}.part`, 'less than that');
  const { close } = await openServerDatabase(folder, null);
  await close();
  reader.close();
  await old.destroy();
  await checkCopy(copy, schema, before);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  assert.ok(!existsSync(`${copy}.part`));
});

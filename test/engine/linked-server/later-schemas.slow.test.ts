import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import {
  NEWEST_SCHEMA,
  readSchemaNumber,
  SCHEMA_KEY,
  SERVER_SCHEMA,
} from '../../../engine/linked-server/database/migrations.ts';
import { openServerDatabase } from '../../../engine/linked-server/database/open.ts';
import type { Tables } from '../../../engine/linked-server/database/tables.ts';
import { KEYS } from '../../../engine/linked-server/keeping/export.ts';
import { onBothDatabases } from '../../support/server/linked-server.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const ROWS = 10_000;
const ROWS_AT_ONCE = 500;
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

/** A change of the schema as a later version may make it. */
const LATER: typeof SERVER_SCHEMA = [
  ...SERVER_SCHEMA,
  async (db) => {
    await db.schema.alterTable('people').addColumn('added', 'text').execute();
  },
];

/** Fills a new database with rows of this version's schema; returns its content. */
async function fillNew(folder: string, url: string | undefined): Promise<Content> {
  const { db, close } = await openServerDatabase(folder, url ?? null);
  try {
    await fill(db);
    return await read(db);
  } finally {
    await close();
  }
}

onBothDatabases((_start, makeDatabase) => {
  it('10,000 rows of the first schema are unchanged after a later step', async () => {
    const folder = temporaryFolder('server-');
    const { DATABASE_URL: url } = await makeDatabase();
    const before = await fillNew(folder, url);
    const { db, close } = await openServerDatabase(folder, url ?? null, { steps: LATER });
    try {
      assert.equal(await readSchemaNumber(db), NEWEST_SCHEMA + 1);
      const after = await read(db);
      for (const row of after.get('people') ?? []) delete (row as Partial<Row>).added;
      assert.deepEqual(after, before);
      assert.ok([...after.values()].flat().length >= ROWS);
    } finally {
      await close();
    }
    await assert.rejects(openServerDatabase(folder, url ?? null), { code: 'storage_newer' });
    const copy = join(folder, `server.db.schema-${NEWEST_SCHEMA}`);
    assert.equal(existsSync(copy), url === undefined);
    if (url === undefined) await checkCopy(copy, before);
  });

  it('the database of a development version is refused and stays unchanged', async () => {
    const folder = temporaryFolder('server-');
    const { DATABASE_URL: url } = await makeDatabase();
    const before = await fillNew(folder, url);
    const made = await openServerDatabase(folder, url ?? null);
    await made.db.updateTable('meta').set({ value: '9' }).where('key', '=', SCHEMA_KEY).execute();
    await made.close();
    await assert.rejects(openServerDatabase(folder, url ?? null), {
      code: 'data_folder_unknown',
      message: "the server's database was written by a development version of svc; nothing in it was used",
    });
    await assert.rejects(openServerDatabase(folder, url ?? null, { steps: LATER }), {
      code: 'data_folder_unknown',
    });
    assert.ok(before.size > 0);
    assert.ok(!existsSync(join(folder, 'server.db.schema-9')));
  });
});

/** Checks that a copy has the old schema and all its rows. */
async function checkCopy(copy: string, before: Content): Promise<void> {
  const kept = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(copy) }) });
  try {
    assert.equal(await readSchemaNumber(kept), NEWEST_SCHEMA);
    assert.deepEqual(await read(kept), before);
  } finally {
    await kept.destroy();
  }
}

it('the copy before a migration contains everything, and overwrites no file', async () => {
  const folder = temporaryFolder('server-');
  const { db, close: closeFirst } = await openServerDatabase(folder, null);
  // A reader keeps the file unchanged, and later changes in the log.
  const reader = new Database(join(folder, 'server.db'));
  reader.exec('BEGIN; SELECT * FROM meta');
  await fill(db);
  const before = await read(db);
  await closeFirst();
  const copy = join(folder, `server.db.schema-${NEWEST_SCHEMA}`);
  // Left by a start that was killed, or by an old one.
  writeFileSync(copy, 'half of a database');
  writeFileSync(`${copy}.part`, 'less than that');
  const { close } = await openServerDatabase(folder, null, { steps: LATER });
  await close();
  reader.close();
  await checkCopy(copy, before);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  assert.ok(!existsSync(`${copy}.part`));
});

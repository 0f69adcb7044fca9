import { closeSync, fsyncSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { randomName } from '../core/base/atomic-file.ts';
import { openPrivate } from '../core/base/private-files.ts';
import { dataFolderRefusedError, listDatabaseFiles } from '../core/workspace/data-folder.ts';
import { applySchema, countSchemaSteps } from './apply-schema.ts';
import { WORKSPACE_SCHEMA } from './schema/index.ts';

/** The row of `meta` with the id of the database's data folder. */
const DATA_ID = 'data_id';

/** The header of every database of ours. */
const META = /CREATE TABLE meta \(.*?\) STRICT, WITHOUT ROWID/.exec(WORKSPACE_SCHEMA[0] ?? '')?.[0] ?? '';

/** Runs inside a transaction, or before anyone else can see the database. */
export const bindDatabase = (db: Database.Database, dataId: string): void =>
  void db
    .prepare(
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    )
    .run(DATA_ID, dataId);

/** Reports whether it is svc's database of that data folder, without running any of its code. */
export function isDatabaseOf(db: Database.Database, dataId: string): boolean {
  db.pragma('trusted_schema = OFF');
  const meta = db
    .prepare<unknown[], { type: string; sql: string }>(
      "SELECT type, sql FROM sqlite_master WHERE name = 'meta'",
    )
    .get();
  if (meta?.type !== 'table' || meta.sql !== META) return false;
  const row = db.prepare<unknown[], { value: string }>('SELECT value FROM meta WHERE key = ?').get(DATA_ID);
  return row?.value === dataId;
}

const readSize = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Creates a missing database under a temporary name and renames it, so that an interruption leaves either none or one
 * that is bound to its data folder. An existing one must already be bound to it. Throws `data_folder_unknown`.
 */
export function prepareDatabase(path: string, dataId: string): void {
  const [, ...beside] = listDatabaseFiles(path);
  if (readSize(path) > 0) {
    const db = new Database(path, { readonly: true });
    try {
      if (isDatabaseOf(db, dataId)) {
        countSchemaSteps(db, path, WORKSPACE_SCHEMA);
        return;
      }
    } finally {
      db.close();
    }
    throw dataFolderRefusedError(path, 'database', 'is not the database of this data folder');
  }
  const left = beside.find((file) => readSize(file) > 0);
  if (left !== undefined) throw dataFolderRefusedError(left, 'database', 'does not belong to a database');
  removeDatabaseDrafts(path);
  const draft = `${path}.${randomName()}.new`;
  const file = openPrivate(draft, 'new');
  try {
    const db = new Database(draft);
    try {
      // An interrupted draft is never read, so it is synced once, when complete.
      db.pragma('synchronous = OFF');
      // Before the first table: later, removed data can be returned to the file system in small steps.
      db.pragma('auto_vacuum = INCREMENTAL');
      db.transaction(() => {
        applySchema(db, draft, WORKSPACE_SCHEMA);
        bindDatabase(db, dataId);
      })();
      db.pragma('journal_mode = WAL');
    } finally {
      db.close();
    }
    fsyncSync(file);
    renameSync(draft, path);
  } catch (error) {
    for (const each of listDatabaseFiles(draft)) rmSync(each, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Removes leftovers of an interrupted creation. */
function removeDatabaseDrafts(path: string): void {
  const name = basename(path);
  for (const each of readdirSync(dirname(path))) {
    if (
      each.startsWith(`${name}.`) &&
      /^[0-9a-f]{16}\.new(?:-wal|-shm|-journal)?$/.test(each.slice(name.length + 1))
    )
      rmSync(join(dirname(path), each), { force: true });
  }
}

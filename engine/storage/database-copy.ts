import {
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SvcError } from '../core/base/errors.ts';
import { withPrivate } from '../core/base/private-files.ts';
import { resolveMachineHome } from '../core/workspace/machine-home.ts';
import { applySchema, countSchemaSteps } from './apply-schema.ts';
import { WORKSPACE_SCHEMA } from './schema/index.ts';
import { toStorageError } from './sqlite-errors.ts';

/** Maximum size of an inspected database. Ten years of a busy workspace are a tenth of it. */
const MOST_BYTES = 8 * 1024 ** 3;
const PART_BYTES = 1024 * 1024;

/** Copies a file without following a link or waiting for a pipe. */
export function copyPrivate(from: string, to: string): void {
  withPrivate(from, 'read', (source) => {
    const { size } = fstatSync(source);
    if (size > MOST_BYTES)
      throw new SvcError('storage_unsafe', `${from} has ${size} bytes, which is too large to check`, {
        hint: 'svc adopt --fresh starts with a new folder next to it',
      });
    withPrivate(to, 'new', (target) => {
      const part = Buffer.alloc(PART_BYTES);
      for (let at = 0; ; ) {
        const read = readSync(source, part, 0, PART_BYTES, at);
        if (read === 0) break;
        writeSync(target, part, 0, read);
        at += read;
      }
      fsyncSync(target);
    });
  });
}

/** Copies the database into a private folder of the machine home, where everything is tried first. */
export function copyDatabase(db: string, env: NodeJS.ProcessEnv): { file: string; remove(): void } | null {
  if ((lstatSync(db, { throwIfNoEntry: false })?.size ?? 0) === 0) return null;
  mkdirSync(resolveMachineHome(env), { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(resolveMachineHome(env), 'adopt-'));
  const removeCopy = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'svc.db');
    copyPrivate(db, file);
    if ((lstatSync(`${db}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
      copyPrivate(`${db}-wal`, `${file}-wal`);
    return { file, remove: removeCopy };
  } catch (error) {
    removeCopy();
    throw error;
  }
}

interface SchemaRow {
  type: string;
  name: string;
  tbl_name: string;
  sql: string | null;
}

const readSchema = (db: Database.Database): string =>
  JSON.stringify(
    db
      .prepare<unknown[], SchemaRow>(
        'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name',
      )
      .all()
      .map(({ type, name, tbl_name, sql }) => [type, name, tbl_name, sql]),
  );

/** Returns the schema of a database with so many steps as svc creates it. */
function buildExpectedSchema(steps: number): string {
  const db = new Database(':memory:');
  try {
    for (const sql of WORKSPACE_SCHEMA.slice(0, steps)) db.exec(sql);
    return readSchema(db);
  } finally {
    db.close();
  }
}

/**
 * Opens a copy and verifies that it is an intact svc database without additions to its schema. None of its code has
 * run by then: triggers and views only run when used. Throws `storage_failed`, `storage_newer`.
 */
export function openCopy(file: string, path: string): Database.Database {
  const db = new Database(file, { timeout: 0 });
  const refuseCopy = (why: string): never => {
    throw new SvcError('storage_failed', `${path} ${why}`, {
      hint: 'svc adopt --fresh starts with a new folder next to it',
    });
  };
  try {
    db.pragma('trusted_schema = OFF');
    db.pragma('cell_size_check = ON');
    const steps = countSchemaSteps(db, path, WORKSPACE_SCHEMA);
    if (steps === 0 || readSchema(db) !== buildExpectedSchema(steps))
      refuseCopy('has tables, triggers or views that svc does not create');
    const [found] = db.pragma('integrity_check(1)') as { integrity_check: string }[];
    if (found?.integrity_check !== 'ok') refuseCopy(`is damaged: ${found?.integrity_check ?? 'no answer'}`);
    applySchema(db, path, WORKSPACE_SCHEMA);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof SvcError) throw error;
    throw toStorageError(error, `cannot read ${path}`);
  }
}

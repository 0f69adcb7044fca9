import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { applySchema } from '../../../engine/storage/apply-schema.ts';
import { openStorage } from '../../../engine/storage/index.ts';
import { WORKSPACE_SCHEMA } from '../../../engine/storage/schema/index.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const ONE = 'CREATE TABLE one (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;';
const TWO = 'ALTER TABLE one ADD COLUMN more TEXT;';
const BROKEN = 'CREATE TABLE two (id INTEGER PRIMARY KEY); CREATE TABLE one (id INTEGER PRIMARY KEY);';

describe('the schema of a database', () => {
  test('applySchema adds only the missing steps and keeps every row', () => {
    const db = new Database(':memory:');
    applySchema(db, 'a.db', [ONE]);
    db.exec("INSERT INTO one (text) VALUES ('kept')");
    for (const _ of ['first', 'repeated']) applySchema(db, 'a.db', [ONE, TWO]);
    assert.deepEqual(db.prepare('SELECT * FROM one').all(), [{ id: 1, text: 'kept', more: null }]);
    assert.throws(() => applySchema(db, 'a.db', [ONE]), {
      code: 'storage_newer',
      message: 'a.db was written by a newer svc (schema 101, this one knows 100)',
    });
  });

  test('a step that fails leaves no part of itself', () => {
    const db = new Database(':memory:');
    assert.throws(() => applySchema(db, 'a.db', [ONE, BROKEN]), /already exists/);
    assert.deepEqual(db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(), [
      'one',
    ]);
    applySchema(db, 'a.db', [ONE, TWO]);
    assert.equal(db.pragma('user_version', { simple: true }), 101);
  });

  test('the database of a development version is refused and stays unchanged', (t) => {
    const folder = temporaryFolder('svc-schema-');
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'svc.db');
    const old = new Database(path);
    old.exec(ONE);
    old.pragma('user_version = 26');
    old.close();
    const before = readFileSync(path);
    assert.throws(() => applySchema(new Database(path), path, [ONE]), {
      code: 'data_folder_unknown',
      message: `${path} was written by a development version of svc; nothing in it was used`,
    });
    assert.deepEqual(readFileSync(path), before);
  });

  test('a new database is complete and valid', (t) => {
    const folder = temporaryFolder('svc-schema-');
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'svc.db');
    for (const _ of ['first', 'again']) {
      const storage = openStorage({ path });
      assert.equal(storage.db.pragma('user_version', { simple: true }), 100 + WORKSPACE_SCHEMA.length - 1);
      assert.deepEqual(storage.db.pragma('foreign_key_check'), []);
      assert.equal(storage.db.pragma('integrity_check', { simple: true }), 'ok');
      storage.close();
    }
  });
});

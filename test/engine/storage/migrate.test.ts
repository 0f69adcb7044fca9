import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { openStorage } from '../../../engine/storage/index.ts';
import { migrations } from '../../../engine/storage/migrations/index.ts';
import { temporaryFolder } from '../../support/git.ts';

/** Returns a value that matches the column's declaration. */
function fittingValue(column: { name: string; type: string }, row: number): unknown {
  const known: Record<string, unknown> = {
    status: 'failed',
    state: 'ended',
    data: '{"a":1}',
    acceptance_criteria: '["x"]',
    task_id: row,
    decision_id: row,
    worker_id: row,
    id: row,
    seq: row,
  };
  if (column.name in known) return known[column.name];
  if (column.type === 'INTEGER') return row;
  return column.type === 'BLOB' ? Buffer.from([row]) : `${column.name} ${row} ü'";--`;
}

/** Columns with different allowed words per table. */
const WORDS: Record<string, Record<string, string>> = {
  decision: { state: 'approved' },
  delivery: { state: 'dead' },
};

test('a database of the first version keeps every row through every migration', (t) => {
  const folder = temporaryFolder('svc-migrate-');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'svc.db');
  const old = new Database(path);
  old.pragma('foreign_keys = ON');
  old.exec(migrations[0] as string);
  old.pragma('user_version = 1');
  const tables = ['meta', 'event', 'task', 'decision', 'worker', 'session', 'replay', 'receipt', 'delivery'];
  const kept = new Map<string, unknown[]>();
  const columnsOf = new Map<string, string>();
  for (const table of tables) {
    const columns = old.pragma(`table_info(${table})`) as { name: string; type: string }[];
    const names = columns.map(({ name }) => name);
    const insert = old.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    for (let row = 1; row <= 20; row += 1)
      insert.run(columns.map((column) => WORDS[table]?.[column.name] ?? fittingValue(column, row)));
    columnsOf.set(table, names.join(', '));
    kept.set(table, old.prepare(`SELECT ${names.join(', ')} FROM ${table}`).all());
  }
  old.close();

  for (const _ of ['first', 'again']) {
    const storage = openStorage({ path });
    assert.equal(storage.db.pragma('user_version', { simple: true }), migrations.length);
    for (const table of tables) {
      const where = table === 'meta' ? " WHERE key <> 'log_id'" : '';
      const now = storage.db.prepare(`SELECT ${columnsOf.get(table)} FROM ${table}${where}`).all();
      assert.deepEqual(now, kept.get(table), table);
    }
    assert.deepEqual(storage.db.pragma('foreign_key_check'), []);
    assert.equal(storage.db.pragma('integrity_check', { simple: true }), 'ok');
    storage.close();
  }
});

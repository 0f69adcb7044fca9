import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { applySchema } from '../../../engine/storage/apply-schema.ts';
import { openStorage } from '../../../engine/storage/index.ts';
import { WORKSPACE_SCHEMA } from '../../../engine/storage/schema/index.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const MEMORY = `INSERT INTO memory (id, type, title, title_key, text, tags, digest, state, actor, seat, via, created_at, changed_at)
  VALUES (?, ?, 't', 't', 't', '', 'd', ?, 'ada', 'chair', 'cli', 1, 1)`;
const ASK = `INSERT INTO ask (status, to_session, question, created_at, expires_at) VALUES (?, 'chair', 'which?', 1, 2)`;

test('a database without counters of asks and memories gets them with the right numbers, and keeps them', (t) => {
  const folder = temporaryFolder('svc-counts-');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'svc.db');
  const old = new Database(path);
  applySchema(old, path, WORKSPACE_SCHEMA.slice(0, 1));
  for (const status of ['open', 'answered', 'answered']) old.prepare(ASK).run(status);
  for (const [id, type, state] of [
    ['m-1', 'fact', 'active'],
    ['m-2', 'fact', 'forgotten'],
    ['m-3', 'todo', 'active'],
  ])
    old.prepare(MEMORY).run(id, type, state);
  old.close();

  const { db, close } = openStorage({ path });
  t.after(close);
  const read = (of: string) =>
    db.prepare('SELECT state, n FROM state_count WHERE of = ? AND n > 0 ORDER BY state').raw().all(of);
  assert.deepEqual(read('ask'), [
    ['answered', 2],
    ['open', 1],
  ]);
  assert.deepEqual(read('memory'), [
    ['fact', 1],
    ['todo', 1],
  ]);

  db.exec("UPDATE ask SET status = 'timeout' WHERE status = 'open'; DELETE FROM ask WHERE id = 2");
  assert.deepEqual(read('ask'), [
    ['answered', 1],
    ['timeout', 1],
  ]);
  db.exec("UPDATE memory SET type = 'todo' WHERE id = 'm-1'");
  db.exec("UPDATE memory SET state = 'active', type = 'gotcha' WHERE id = 'm-2'");
  db.exec("DELETE FROM memory WHERE id = 'm-3'");
  assert.deepEqual(read('memory'), [
    ['gotcha', 1],
    ['todo', 1],
  ]);
});

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Db } from '../../../engine/storage/index.ts';
import { openStorage } from '../../../engine/storage/index.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const STATUSES = ['open', 'assigned', 'running', 'done', 'failed'];
const STATES = ['pending', 'approved', 'denied', 'expired'];
const DELIVERY_STATES = ['pending', 'delivered', 'dead'];
const pick = (words: readonly string[]): string => words[Math.floor(Math.random() * words.length)] as string;

function add(db: Db): void {
  const { lastInsertRowid } = db
    .prepare("INSERT INTO task (title, body, status, source, created_at) VALUES ('a', '', ?, 'cli', 1)")
    .run(pick(STATUSES));
  db.prepare(
    `INSERT INTO decision (task_id, kind, state, hash, why, source, created_at, consumed_at)
     VALUES (?, 'dispatch', ?, '', '', 'cli', 1, 1)`,
  ).run(lastInsertRowid, pick(STATES));
  db.prepare(
    `INSERT INTO delivery (event_seq, event, message_id, url, body, state, created_at, first_at, next_at)
     VALUES (1, 'alert', '', '', '', ?, 1, 1, 1)`,
  ).run(pick(DELIVERY_STATES));
}

function change(db: Db, among: number): void {
  const id = 1 + Math.floor(Math.random() * among);
  db.prepare('UPDATE task SET status = ?, summary = ? WHERE id >= ?').run(pick(STATUSES), 'b', id);
  db.prepare('UPDATE decision SET state = ?, reason = ? WHERE id <= ?').run(pick(STATES), 'b', id);
  db.prepare('UPDATE delivery SET state = ?, attempts = 1 WHERE id <= ?').run(pick(DELIVERY_STATES), id);
  db.prepare('DELETE FROM delivery WHERE id = ?').run(id + 1);
}

function checkCounts(db: Db): void {
  for (const [of, column] of [
    ['task', 'status'],
    ['decision', 'state'],
    ['delivery', 'state'],
  ])
    assert.deepEqual(
      db.prepare('SELECT state, n FROM state_count WHERE of = ? AND n <> 0 ORDER BY state').all(of),
      db.prepare(`SELECT ${column} AS state, count(*) AS n FROM ${of} GROUP BY 1 ORDER BY 1`).all(),
    );
}

test('the counts of tasks, decisions and deliveries are exact after every change and undo', async (t) => {
  const folder = temporaryFolder('svc-counts-');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'svc.db');
  const storage = openStorage({ path });
  t.after(() => storage.close());
  checkCounts(storage.db);
  for (let round = 1; round <= 200; round += 1) {
    const isUndone = round % 5 === 0;
    await storage
      .write(() => {
        add(storage.db);
        change(storage.db, round);
        if (isUndone) throw new Error('undone');
      })
      .catch((error: Error) => assert.equal(error.message, 'undone'));
  }
  checkCounts(storage.db);
});

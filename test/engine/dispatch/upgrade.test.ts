import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Database from 'better-sqlite3';
import { workers } from '../../../engine/storage/migrations/0003-workers.ts';
import { approvals } from '../../../engine/storage/migrations/0004-approvals.ts';
import { containment } from '../../../engine/storage/migrations/0005-containment.ts';
import { outcomes } from '../../../engine/storage/migrations/0006-outcomes.ts';
import { counts } from '../../../engine/storage/migrations/0007-counts.ts';
import { runs } from '../../../engine/storage/migrations/0008-runs.ts';
import { reviews } from '../../../engine/storage/migrations/0009-reviews.ts';
import { until } from '../../support/wait.ts';
import { claudeSays, makeRig, type Rig } from './rig.ts';

let rig: Rig;
before(async () => {
  rig = await makeRig({ workerCap: 1 });
});
after(() => rig.close());

/** The database as the version before wrote it. */
function downgrade(): void {
  const db = new Database(join(rig.ws.root, '.svc', 'svc.db'));
  for (const later of [reviews, runs, counts, outcomes, containment, approvals, workers]) {
    for (const [, name] of later.matchAll(/^CREATE TRIGGER (\w+)/gm)) db.exec(`DROP TRIGGER ${name}`);
    for (const [, name] of later.matchAll(/^CREATE INDEX (\w+)/gm)) db.exec(`DROP INDEX ${name}`);
    for (const [, name] of later.matchAll(/^CREATE TABLE (\w+)/gm)) db.exec(`DROP TABLE ${name}`);
    for (const [, table, column] of later.matchAll(/^ALTER TABLE (\w+) ADD COLUMN (\w+)/gm))
      db.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
  db.pragma('user_version = 2');
  db.close();
}

test('what ran and what waited under the version before is taken over, and goes on after a limit', async () => {
  const gate = join(rig.ws.repository.folder, 'gate');
  const { session_id } = await rig.run([
    claudeSays.init('c-1'),
    `wait-for ${gate}`,
    claudeSays.limit(Date.now() + 60_000),
    claudeSays.result({
      is_error: true,
      api_error_status: 429,
      result: 'usage limit reached',
      session_id: 'c-1',
    }),
  ]);
  const waiting = await rig.run(['no-change', claudeSays.result()]);
  await until(async () => (await rig.session(session_id)).state === 'running');
  await rig.down();
  downgrade();
  await rig.up();
  const adopted = await rig.session(session_id);
  assert.equal(adopted.state, 'running');
  assert.equal(adopted.runs, 1);
  // Its time limit is counted from its start, not from this one.
  assert.equal(adopted.run_started_at, adopted.started_at);
  writeFileSync(gate, '');
  assert.equal((await rig.settled(session_id)).state, 'queued');
  assert.equal((await rig.settled(waiting.session_id)).failure, null);
  const before = rig.starts().length;
  await rig.here().call('worker.resume', { session: session_id });
  await until(() => rig.starts().length > before);
  assert.match(rig.starts().at(-1)?.at(-1) ?? '', /^You were interrupted/);
});

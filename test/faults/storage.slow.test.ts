import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { systemClock } from '../../engine/core/base/clock.ts';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { createEventLog, openStorage } from '../../engine/storage/index.ts';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('the database during faults', () => {
  let ws: TestWorkspace;
  beforeEach(async () => {
    ws = await makeWorkspace();
  });
  afterEach(() => ws.close());
  const database = () => join(ws.root, '.svc', 'svc.db');

  test('a database locked by another program acknowledges nothing, the error says why, and it works again when free', async () => {
    await ws.svc(['up']);
    const intruder = new Database(database());
    intruder.exec('BEGIN IMMEDIATE');
    const refused = await ws.svc(['task', 'add', 'while locked', '--json']);
    assert.equal(refused.code, 1);
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'storage_failed');
    intruder.exec('ROLLBACK');
    intruder.close();
    assert.equal((await ws.svc(['task', 'add', 'when free'])).code, 0);
    const titles = (await ws.svc(['task', 'list', '--json']))
      .json<{ title: string }[]>()
      .map((task) => task.title);
    assert.deepEqual(titles, ['when free']);
    report(
      'a database locked while the engine runs',
      'the write was refused and not acknowledged; the next one was kept',
    );
  });

  test('a database locked at the start refuses the engine with the reason', async () => {
    await ws.svc(['up']);
    await ws.svc(['down']);
    const intruder = new Database(database());
    intruder.exec('BEGIN EXCLUSIVE');
    const refused = await ws.svc(['up', '--json']);
    intruder.close();
    assert.equal(refused.code, 1, refused.stdout);
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'storage_failed');
    report('a database locked at the start', 'the engine was refused with the reason');
  });

  test('a damaged database refuses the engine and is left as it is', async () => {
    await ws.svc(['up']);
    await ws.svc(['down']);
    writeFileSync(database(), 'this is not a database, but it may be all that is left of one'.repeat(50));
    const before = readFileSync(database());
    const refused = await ws.svc(['up', '--json']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /not a database/);
    assert.deepEqual(readFileSync(database()), before);
    report('a damaged database', 'refused, the file untouched');
  });

  test('a database of a newer svc is refused untouched', async () => {
    await ws.svc(['up']);
    await ws.svc(['down']);
    const db = new Database(database());
    db.pragma('user_version = 999');
    db.close();
    const refused = await ws.svc(['up', '--json']);
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'storage_newer');
    report('a database of a newer schema', 'refused untouched');
  });

  test('a database in a read-only folder is refused with a fix', (t) => {
    if (process.getuid?.() !== 0) {
      t.skip('needs root, to run the engine as another user');
      return;
    }
    // Root can write everywhere, so the engine runs as another user with read access only.
    const folder = temporaryFolder();
    cpSync(ws.root, join(folder, 'copy'), { recursive: true });
    rmSync(join(folder, 'copy', '.svc'), { recursive: true, force: true });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'copy'), 0o555);
    chownSync(folder, 0, 0);
    const ran = spawnSync(process.execPath, [SVC, 'daemon', '--json'], {
      cwd: join(folder, 'copy'),
      env: { ...ws.env, HOME: folder, SVC_HOME: join(folder, 'home') },
      uid: 65534,
      gid: 65534,
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true, force: true });
    assert.equal(ran.status, 1);
    assert.equal((JSON.parse(ran.stdout) as { error: { code: string } }).error.code, 'storage_failed');
    assert.match(ran.stderr, /writable/);
    report('a data folder that may not be written', 'refused with a remedy');
  });

  test('the integrity of the database is ok after all of this', async () => {
    await ws.svc(['task', 'add', 'something']);
    await ws.killDaemon();
    const db = new Database(database());
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    db.close();
  });
});

describe('a full disk under the database', () => {
  const folder = temporaryFolder();
  const open = () => openStorage({ path: join(folder, 'full.db') });

  test('the whole batch fails with storage_full, acknowledged rows stay, and writing works again when there is room', async () => {
    const storage = open();
    const events = createEventLog({ storage, clock: systemClock });
    await storage.write(() => events.append({ kind: 'alert', data: { before: true } }));
    // SQLite itself reports SQLITE_FULL if the file must not grow: the same path as ENOSPC, on every machine.
    const pages = storage.db.pragma('page_count', { simple: true }) as number;
    storage.db.pragma(`max_page_count = ${pages}`);
    const large = 'x'.repeat(1024 * 1024);
    const results = await Promise.allSettled([
      storage.write(() => events.append({ kind: 'alert', data: { small: true } })),
      storage.write(() => events.append({ kind: 'alert', data: { large } })),
    ]);
    for (const result of results) {
      if (result.status === 'rejected') assert.equal(asSvcError(result.reason).code, 'storage_full');
    }
    assert.ok(results.some((result) => result.status === 'rejected'));
    const kept = events.listAfter(0).length;
    assert.equal(kept, 1 + results.filter((result) => result.status === 'fulfilled').length);
    storage.db.pragma('max_page_count = 1000000');
    await storage.write(() => events.append({ kind: 'alert', data: { after: true } }));
    assert.equal(events.listAfter(0).length, kept + 1);
    storage.close();
    rmSync(folder, { recursive: true });
    report('a database that may not grow', 'what was acknowledged was kept, what was not was refused');
  });

  test('a database that cannot be opened for lack of space is storage_full, however little is left', (t) => {
    const mount = temporaryFolder('svc-full-');
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mount]).status !== 0) {
      rmSync(mount, { recursive: true });
      t.skip('no tmpfs can be mounted here');
      return;
    }
    try {
      for (const pages of [200, 240, 248, 252, 254, 256]) {
        for (const name of readdirSync(mount)) rmSync(join(mount, name));
        spawnSync('dd', ['if=/dev/zero', `of=${mount}/filler`, 'bs=4096', `count=${pages}`]);
        assert.throws(
          () => openStorage({ path: join(mount, 'svc.db') }),
          { code: 'storage_full' },
          `${pages} pages`,
        );
      }
    } finally {
      spawnSync('umount', [mount]);
      rmSync(mount, { recursive: true });
    }
  });

  test('requests to a running engine fail with storage_full and work again when there is room', async (t) => {
    const mount = temporaryFolder('svc-full-');
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', mount]).status !== 0) {
      rmSync(mount, { recursive: true });
      t.skip('no tmpfs can be mounted here');
      return;
    }
    const ws = await makeWorkspace({ yaml: `db: { path: "${mount}/svc.db" }\n` });
    try {
      await ws.svc(['task', 'add', 'before']);
      writeFileSync(join(mount, 'filler'), '');
      spawnSync('dd', ['if=/dev/zero', `of=${mount}/filler`, 'bs=4096']);
      const refused = await until(async () => {
        const ran = await ws.svc(['task', 'add', 'x'.repeat(400), '--json']);
        return ran.code === 0 ? null : ran;
      }, 'the disk to be full');
      assert.equal(refused.json<{ error: { code: string } }>().error.code, 'storage_full');
      rmSync(join(mount, 'filler'));
      assert.equal((await ws.svc(['task', 'add', 'after'])).code, 0);
      const titles = (await ws.svc(['task', 'list', '--json']))
        .json<{ title: string }[]>()
        .map((task) => task.title);
      assert.equal(titles[0], 'after');
      assert.equal(titles.at(-1), 'before');
    } finally {
      await ws.close();
      spawnSync('umount', [mount]);
      rmSync(mount, { recursive: true });
    }
  });
});

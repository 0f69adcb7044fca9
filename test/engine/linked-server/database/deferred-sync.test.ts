import assert from 'node:assert/strict';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { deferSqliteSync } from '../../../../engine/linked-server/database/deferred-sync.ts';
import { migrateServerDatabase } from '../../../../engine/linked-server/database/migrations.ts';
import type { Tables } from '../../../../engine/linked-server/database/tables.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

/** A server's database, and how its log file is synced to disk. */
async function openDeferred(t: TestContext, syncFile?: (file: FileHandle) => Promise<void>) {
  const sqlite = new Database(join(temporaryFolder('server-'), 'server.db'));
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: sqlite }) });
  await migrateServerDatabase(db);
  const deferred = deferSqliteSync({ db, sqlite, ...(syncFile === undefined ? {} : { syncFile }) });
  t.after(async () => {
    await deferred.close();
    await db.destroy();
  });
  const remember = (key: string) =>
    deferred.transact((change) => change.insertInto('meta').values({ key, value: '1' }).execute());
  const readKeys = async () =>
    (await db.selectFrom('meta').select('key').where('key', 'like', 'test-%').execute()).map(
      ({ key }) => key,
    );
  return { ...deferred, sqlite, db, remember, readKeys };
}

it('only these transactions are committed without waiting for the disk', async (t) => {
  const { transact, sqlite, sync, remember, readKeys } = await openDeferred(t);
  const readMode = () => sqlite.pragma('synchronous', { simple: true });
  const within = await transact(async () => readMode());
  assert.deepEqual([within, readMode()], [1, 2]);
  await assert.rejects(
    transact(() => Promise.reject(new Error('refused'))),
    /refused/,
  );
  assert.equal(readMode(), 2);
  await remember('test-1');
  await sync();
  assert.deepEqual(await readKeys(), ['test-1']);
});

it('a commit that is not on disk yet blocks no one else, and callers can wait for it', async (t) => {
  const syncing = Promise.withResolvers<void>();
  const files: number[] = [];
  const { sync, remember, readKeys } = await openDeferred(t, async (file) => {
    files.push((await file.stat()).size);
    await syncing.promise;
  });
  await remember('test-1');
  let isOnDisk = false;
  const synced = sync().then(() => {
    isOnDisk = true;
  });
  await remember('test-2');
  assert.deepEqual(await readKeys(), ['test-1', 'test-2']);
  assert.equal(isOnDisk, false);
  syncing.resolve();
  await synced;
  assert.equal(files.length, 1);
  assert.ok(files[0]! > 0, 'the log file contains the commits');
});

it('a disk that failed once is not trusted again', async (t) => {
  let fails = true;
  const { sync, lost, remember } = await openDeferred(t, async () => {
    if (fails) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  });
  await remember('test-1');
  await assert.rejects(sync(), {
    code: 'storage_failed',
    message: 'the disk failed: EIO: i/o error, fdatasync',
  });
  fails = false;
  await remember('test-2');
  await assert.rejects(sync(), { code: 'storage_failed' });
  assert.equal((await lost).code, 'storage_failed');
});

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { openStorage } from '../../../engine/storage/index.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const folder = temporaryFolder('svc-commit-');
const { db, write, onCommit, afterCommit, close } = openStorage({ path: join(folder, 'svc.db') });
const insert = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
const keys = () => db.prepare("SELECT key FROM meta WHERE key LIKE 'of %' ORDER BY key").pluck().all();

after(() => {
  close();
  rmSync(folder, { recursive: true, force: true });
});

const keep = (key: string) => write(() => insert.run(`of ${key}`, '').changes);
const keepAndThrow = (key: string, error: unknown) =>
  write(() => {
    insert.run(`of ${key}`, '');
    throw error;
  });

test('work that throws alone is undone, rejects with its own error and commits nothing', async () => {
  let commits = 0;
  const stopListening = onCommit(() => {
    commits += 1;
  });
  await assert.rejects(keepAndThrow('alone', new SvcError('conflict', 'not now')), { code: 'conflict' });
  await assert.rejects(keepAndThrow('alone', new TypeError('a fault')), { code: 'internal' });
  await assert.rejects(
    write(() => insert.run('log_id', '')),
    { code: 'storage_failed' },
  );
  assert.equal(commits, 0);
  assert.deepEqual(keys(), []);
  assert.equal(await keep('after'), 1);
  assert.equal(commits, 1);
  stopListening();
});

test('work that throws among others is undone alone', async () => {
  const [first, second, third] = await Promise.allSettled([
    keep('first'),
    keepAndThrow('second', new SvcError('conflict', 'not now')),
    keep('third'),
  ]);
  assert.deepEqual([first.status, second.status, third.status], ['fulfilled', 'rejected', 'fulfilled']);
  assert.deepEqual(keys(), ['of after', 'of first', 'of third']);
});

test('an action after a commit runs once, and not when the change was undone', async () => {
  const ran: string[] = [];
  const follow = () => {
    ran.push(db.inTransaction ? 'too early' : 'follow');
  };
  const asking = (key: string, error?: unknown) =>
    write(() => {
      insert.run(`of asked ${key}`, '');
      afterCommit(follow);
      afterCommit(() => void ran.push(key));
      if (error !== undefined) throw error;
    });
  await Promise.allSettled([asking('a'), asking('b', new Error('no')), asking('c')]);
  assert.deepEqual(ran, ['follow', 'a', 'c']);
  await assert.rejects(asking('alone', new Error('no')));
  await keep('nothing that follows');
  assert.deepEqual(ran, ['follow', 'a', 'c']);
  assert.throws(() => afterCommit(follow), /inside storage.write/);
});

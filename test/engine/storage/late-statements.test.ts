import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { prepareLate } from '../../../engine/storage/late-statements.ts';

describe('statements that are prepared late', () => {
  test('they read, write and pluck like others', () => {
    const db = new Database(':memory:');
    prepareLate(db);
    const add = db.prepare('INSERT INTO number VALUES (?)');
    const list = db.prepare('SELECT n FROM number ORDER BY n');
    const plucked = db.prepare('SELECT n FROM number ORDER BY n').pluck();
    db.exec('CREATE TABLE number (n INTEGER)');
    assert.equal(add.run(2).changes, 1);
    add.run(1);
    assert.deepEqual(list.all(), [{ n: 1 }, { n: 2 }]);
    assert.deepEqual([...list.iterate()], [{ n: 1 }, { n: 2 }]);
    assert.deepEqual([plucked.get(), plucked.all()], [1, [1, 2]]);
    db.close();
  });

  test('an error in one that is never used is found with the rest', async () => {
    const db = new Database(':memory:');
    const prepareRest = prepareLate(db);
    for (let count = 0; count < 20; count += 1) db.prepare('SELECT 1');
    prepareRest();
    await nextTurn();
    assert.throws(() => db.prepare('SELECT 1 FROM nowhere'), /no such table/);

    const other = new Database(':memory:');
    const prepareOthers = prepareLate(other);
    other.prepare('SELECT 1 FROM nowhere');
    assert.throws(prepareOthers, /no such table/);
    const closed = new Database(':memory:');
    const prepareNone = prepareLate(closed);
    closed.prepare('SELECT 1 FROM nowhere');
    closed.close();
    prepareNone();
  });
});

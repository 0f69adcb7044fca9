import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { createSavepoint, type RunInSavepoint } from '../../../engine/storage/savepoint.ts';

describe('a savepoint', () => {
  let db: Database.Database;
  let inSavepoint: RunInSavepoint;
  const add = (value: number): void => void db.prepare('INSERT INTO number VALUES (?)').run(value);
  const values = (): unknown[] => db.prepare('SELECT value FROM number ORDER BY value').pluck().all();
  const failing = (value: number) => () => {
    add(value);
    throw new Error(`not ${value}`);
  };
  beforeEach(() => {
    db = new Database(':memory:');
    db.exec('CREATE TABLE number (value INTEGER); BEGIN IMMEDIATE');
    inSavepoint = createSavepoint(db);
  });

  test('a savepoint keeps the changes of its part, and returns its value', () => {
    assert.equal(
      inSavepoint(() => {
        add(1);
        return 'done';
      }),
      'done',
    );
    db.exec('COMMIT');
    assert.deepEqual(values(), [1]);
  });

  test('a savepoint undoes a part that throws and nothing else, even inside another one', () => {
    add(1);
    inSavepoint(() => {
      add(2);
      assert.throws(() => inSavepoint(failing(3)), { message: 'not 3' });
      add(4);
    });
    assert.throws(() => inSavepoint(failing(5)), { message: 'not 5' });
    db.exec('COMMIT');
    assert.deepEqual(values(), [1, 2, 4]);
  });

  test('a savepoint passes on the error where the whole transaction was ended', () => {
    assert.throws(
      () =>
        inSavepoint(() => {
          db.exec('ROLLBACK');
          throw new Error('the disk is full');
        }),
      { message: 'the disk is full' },
    );
    assert.equal(db.inTransaction, false);
  });
});

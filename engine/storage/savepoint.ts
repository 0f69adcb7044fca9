import type { Database } from 'better-sqlite3';

/** Runs a part of a transaction; if it throws, only its changes are undone. May be nested. */
export type RunInSavepoint = <T>(work: () => T) => T;

/**
 * Creates a savepoint. The error of `work` is rethrown. A full disk makes SQLite end the whole transaction:
 * `db.inTransaction` reports whether it still exists.
 */
export function createSavepoint(db: Database): RunInSavepoint {
  const save = db.prepare('SAVEPOINT part');
  const release = db.prepare('RELEASE part');
  const undo = db.prepare('ROLLBACK TO part');
  return (work) => {
    save.run();
    try {
      const value = work();
      release.run();
      return value;
    } catch (error) {
      if (db.inTransaction) {
        undo.run();
        release.run();
      }
      throw error;
    }
  };
}

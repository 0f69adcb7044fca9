import type { Database } from 'better-sqlite3';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { createSavepoint } from './savepoint.ts';
import { toStorageError } from './sqlite-errors.ts';

export interface GroupCommit {
  write<T>(work: () => T): Promise<T>;
  /**
   * Runs `work` once after the commit, outside any transaction, and not at all if the calling part of `write` is
   * undone. A function requested by several parts of one commit runs once. `work` must check the state: a savepoint
   * inside the part may have undone the requesting step.
   */
  afterCommit(work: () => void): void;
  onCommit(listener: () => void): () => void;
  /** Commits the queued work now. */
  flush(): void;
}

interface Job {
  work: () => unknown;
  /** The functions that it passed to `afterCommit`. */
  after: (() => void)[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Turns of the event loop from the first piece of work to the commit. Requests in transit when the first one is read
 * are read in the next turn or two; waiting for them makes one commit of several, and an empty turn costs a single
 * request some microseconds.
 */
const TURNS = 3;

/**
 * Creates group commit: one fsync for all writes in a few turns of the event loop. Simultaneous requests share a
 * commit, a single request waits for no one. Each of several parts has a savepoint, so one that throws does not
 * affect the others.
 */
export function createGroupCommit(db: Database, { isGone }: { isGone(): boolean }): GroupCommit {
  let queue: Job[] = [];
  let scheduled = false;
  /** The job whose work is running. */
  let current: Job | null = null;
  const listeners = new Set<() => void>();
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const inSavepoint = createSavepoint(db);

  function runWork(job: Job): unknown {
    current = job;
    try {
      return job.work();
    } finally {
      current = null;
    }
  }

  /** Runs a single job without a savepoint, in which SQLite would copy every page before changing it. */
  function runAlone(job: Job): () => void {
    try {
      const value = runWork(job);
      return () => job.resolve(value);
    } catch (error) {
      throw mapError(error);
    }
  }

  function runOne(job: Job): () => void {
    try {
      const value = inSavepoint(() => runWork(job));
      return () => job.resolve(value);
    } catch (error) {
      // Without the transaction the batch has failed, not the job.
      if (!db.inTransaction) throw error;
      job.after = [];
      const failed = mapError(error);
      return () => job.reject(failed);
    }
  }

  function flushQueue(): void {
    scheduled = false;
    const jobs = queue;
    queue = [];
    if (jobs.length === 0) return;
    let settle: (() => void)[];
    try {
      if (isGone()) throw databaseRemovedError();
      begin.run();
      settle = jobs.map(jobs.length === 1 ? runAlone : runOne);
      commit.run();
    } catch (error) {
      if (db.inTransaction) rollback.run();
      const failed = error instanceof SvcError ? error : toStorageError(error, 'the change was not saved');
      for (const job of jobs) job.reject(failed);
      return;
    }
    for (const each of settle) each();
    for (const work of new Set(jobs.flatMap(({ after }) => after))) work();
    for (const listener of listeners) listener();
  }

  function commitAfter(turns: number): void {
    setImmediate(() => {
      if (turns > 1) commitAfter(turns - 1);
      else if (scheduled && db.open) flushQueue();
    });
  }

  return {
    write<T>(work: () => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        if (!db.open) {
          reject(
            new SvcError('engine_closing', 'the engine is stopping', {
              hint: 'try again after it has started',
            }),
          );
          return;
        }
        queue.push({ work, after: [], resolve: resolve as (value: unknown) => void, reject });
        if (scheduled) return;
        scheduled = true;
        commitAfter(TURNS);
      });
    },
    afterCommit(work) {
      if (current === null) throw new Error('afterCommit is for work inside storage.write');
      current.after.push(work);
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    flush: flushQueue,
  };
}

const databaseRemovedError = (): SvcError =>
  new SvcError('storage_failed', 'the database was removed; the change was not saved', {
    hint: 'the engine stops; the next command starts one with a new data folder',
  });

const mapError = (error: unknown) =>
  typeof (error as { code?: unknown })?.code === 'string' &&
  String((error as { code: string }).code).startsWith('SQLITE_')
    ? toStorageError(error, 'the change was not saved')
    : asSvcError(error);

import type Database from 'better-sqlite3';
import type { CallLog } from '../core/api/repeat.ts';
import type { GroupCommit } from './group-commit.ts';

export type Db = Database.Database;

/** The workspace's one database. Only the engine opens it. */
export interface Storage {
  /** For prepared statements and reads. Writes go through `write`. */
  readonly db: Db;
  /**
   * Runs `work` inside a transaction shared with everything else written in this turn of the event loop, and
   * resolves after the commit has reached the disk (`synchronous=FULL`). `work` is synchronous. When it throws, only
   * its own changes are undone. Rejects with `storage_failed` or `storage_full` when the commit itself fails.
   */
  write: GroupCommit['write'];
  /** Inside `write`: what follows from the change once it is on the disk. */
  afterCommit: GroupCommit['afterCommit'];
  /** Calls that may be sent again, for the dispatcher. */
  readonly calls: CallLog;
  /** Called after each commit, outside any transaction. */
  onCommit: GroupCommit['onCommit'];
  /** Whether the database file was removed, or replaced by another. */
  isGone(): boolean;
  close(): void;
}

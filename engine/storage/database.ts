import type Database from 'better-sqlite3';
import type { CallLog } from '../core/api/repeat.ts';
import type { GroupCommit } from './group-commit.ts';
import type { WaitHandles } from './wait-handles.ts';

export type Db = Database.Database;

/** The workspace's only database. Only the engine opens it. */
export interface Storage {
  /** For prepared statements and reads. Writes go through `write`. */
  readonly db: Db;
  /**
   * Runs `work` inside a transaction shared with all other writes of this turn of the event loop, and resolves after
   * the commit has reached the disk (`synchronous=FULL`). `work` is synchronous. If it throws, only its own changes
   * are undone. Rejects with `storage_failed` or `storage_full` if the commit itself fails.
   */
  write: GroupCommit['write'];
  /** Runs a follow-up of a change, inside `write`, once the change is on disk. */
  afterCommit: GroupCommit['afterCommit'];
  /** Repeatable calls, for the dispatcher. */
  readonly calls: CallLog;
  /** Handles of calls that wait. */
  readonly handles: WaitHandles;
  /** Called after each commit, outside any transaction. */
  onCommit: GroupCommit['onCommit'];
  /** Reports whether the database file was removed or replaced. */
  isGone(): boolean;
  /** Prepares in pauses the statements that nothing has used yet. */
  prepareRest(): void;
  close(): void;
}

import { randomUUID } from 'node:crypto';
import { closeSync, fchmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { SvcError } from '../errors.ts';
import { openPrivate } from '../private-files.ts';
import { type Answered, createAnswered } from './answered.ts';
import { prepareDatabase } from './database-file.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { presenceOf } from './presence.ts';
import { storageError } from './sqlite-errors.ts';

export type { EventInput, EventKind, EventLog, LoggedEvent } from './event-log.ts';
export { createEventLog } from './event-log.ts';
export { type HostLock, holdHostLock } from './host-lock.ts';
export { eventOperations } from './operations.ts';
export { whenGone } from './presence.ts';

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
  /**
   * `write` for a call that may be sent again: under the key of one that was answered it gives the same answer, which is
   * JSON, and changes nothing. `key` is `Call.key`.
   */
  once: Answered['once'];
  /** What the call has answered; undefined when it has not. */
  answerOf: Answered['answerOf'];
  /** Called after each commit, outside any transaction. */
  onCommit: GroupCommit['onCommit'];
  /** Whether the database file was removed, or replaced by another. */
  isGone(): boolean;
  close(): void;
}

/** How long a foreign lock is waited for. Short, because the wait holds up everything else; only we should write. */
const BUSY_MS = 300;

/**
 * Opens and migrates the database at `path`. Throws `storage_newer`, `storage_failed`, `storage_full`, and
 * `data_folder_unknown` for one that is not of the data folder with that id.
 */
export function openStorage({ path, dataId }: { path: string; dataId?: string }): Storage {
  let db: Db | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (dataId !== undefined) prepareDatabase(path, dataId);
    // Created by us first so that it never exists with wider rights than 0600.
    const file = openPrivate(path, 'add');
    fchmodSync(file, 0o600);
    closeSync(file);
    db = new Database(path, { timeout: BUSY_MS });
    db.pragma('trusted_schema = OFF');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma('cache_size = -8000');
    migrate(db, path);
    db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('log_id', ?)").run(randomUUID());
  } catch (error) {
    db?.close();
    if (error instanceof SvcError) throw error;
    throw storageError(error, `cannot open the database ${path}`);
  }
  const opened = db;
  const presence = presenceOf(path);
  const groupCommit = createGroupCommit(opened, presence);
  const { once, answerOf } = createAnswered(opened, groupCommit.write);
  return {
    db: opened,
    once,
    answerOf,
    write: groupCommit.write,
    onCommit: groupCommit.onCommit,
    isGone: presence.isGone,
    close() {
      groupCommit.flush();
      opened.close();
    },
  };
}

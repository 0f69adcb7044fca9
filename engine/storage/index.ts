import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { SvcError } from '../core/base/errors.ts';
import { makePrivateFile } from '../core/base/private-files.ts';
import { applySchema } from './apply-schema.ts';
import { createCallLog } from './call-log.ts';
import type { Db, Storage } from './database.ts';
import { prepareDatabase } from './database-file.ts';
import { createGroupCommit } from './group-commit.ts';
import { prepareLate } from './late-statements.ts';
import { watchPresence } from './presence.ts';
import { WORKSPACE_SCHEMA } from './schema/index.ts';
import { toStorageError } from './sqlite-errors.ts';
import { createWaitHandles } from './wait-handles.ts';

export { applySchema, FIRST_SCHEMA_NUMBER } from './apply-schema.ts';
export type { Db, Storage } from './database.ts';
export type { EventInput, EventKind, EventLog, LoggedEvent } from './event-log.ts';
export { createEventLog } from './event-log.ts';
export { type HostLock, holdHostLock } from './host-lock.ts';
export { eventOperations } from './operations.ts';
export { whenGone } from './presence.ts';
export { createSavepoint } from './savepoint.ts';
export { STATS_RANGE } from './schema/stats.ts';
export { toStorageError } from './sqlite-errors.ts';
export { RESULT_KEPT_MS, type WaitHandle } from './wait-handles.ts';

/** Wait time for a foreign lock. Short, because the wait blocks everything else; only we should write. */
const BUSY_MS = 300;

/**
 * Opens and migrates the database at `path`. Throws `storage_newer`, `storage_failed`, `storage_full`, and
 * `data_folder_unknown` if it does not belong to the data folder with that id.
 */
export function openStorage({ path, dataId }: { path: string; dataId?: string }): Storage {
  let db: Db | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (dataId !== undefined) prepareDatabase(path, dataId);
    // Created by us first so that it never has a wider mode than 0600.
    makePrivateFile(path);
    db = new Database(path, { timeout: BUSY_MS });
    db.pragma('trusted_schema = OFF');
    // Only for an empty file.
    db.pragma('auto_vacuum = INCREMENTAL');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.pragma('cache_size = -8000');
    applySchema(db, path, WORKSPACE_SCHEMA);
    db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('log_id', ?)").run(randomUUID());
  } catch (error) {
    db?.close();
    if (error instanceof SvcError) throw error;
    throw toStorageError(error, `cannot open the database ${path}`);
  }
  const opened = db;
  const prepareRest = prepareLate(opened);
  const presence = watchPresence(path);
  const groupCommit = createGroupCommit(opened, presence);
  return {
    db: opened,
    calls: createCallLog(opened, groupCommit.write),
    handles: createWaitHandles(opened, groupCommit.write),
    write: groupCommit.write,
    afterCommit: groupCommit.afterCommit,
    onCommit: groupCommit.onCommit,
    isGone: presence.isGone,
    prepareRest,
    close() {
      groupCommit.flush();
      opened.close();
    },
  };
}

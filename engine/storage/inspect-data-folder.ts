import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { readPrivate } from '../core/base/private-files.ts';
import {
  checkKeptPaths,
  type DataFolderFault,
  inspectOwnDataFolder,
  type KeptPaths,
  readDataFolderId,
} from '../core/workspace/data-folder.ts';
import { copyDatabase, openCopy } from './database-copy.ts';
import { isDatabaseOf } from './database-file.ts';

/** A workspace's folder and its data paths. */
export interface AdoptPlace {
  root: string;
  paths: KeptPaths;
  env: NodeJS.ProcessEnv;
}

/** Counts of the content of a data folder from elsewhere. */
export interface DataFolderHolding {
  tasks: number;
  decisionsPending: number;
  /** Approved and unused. */
  approvalsUnused: number;
  sessions: number;
  sessionsQueued: number;
  sessionsRunning: number;
  deliveriesPending: number;
  messagesPending: number;
  /** Valid gateway keys. */
  tokens: number;
}

export interface DataFolderReport {
  path: string;
  /** `strange`: not created on this machine, or with a database from elsewhere. */
  state: 'absent' | 'empty' | 'ours' | 'strange';
  /** Why it is strange; null if it is not. */
  reason: DataFolderFault | null;
  why: string | null;
  /** Null if there is no database. */
  holds: DataFolderHolding | null;
  /** Why `svc adopt` does not take it over; null if it does, or need not. */
  obstacle: string | null;
}

const readReason = (error: SvcError): DataFolderFault =>
  (error.data.reason as DataFolderFault | undefined) ?? 'content';

/** Reports whether an engine holds the folder, without writing anything. */
function findHolder(data: string): number | null | false {
  const file = join(data, 'host.lock');
  const lock = lstatSync(file, { throwIfNoEntry: false });
  // Only svc's own lock, an empty file, is passed to SQLite.
  if (!lock?.isFile() || lock.size > 0) return false;
  const db = new Database(file, { readonly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('SQLITE_BUSY')) throw error;
    const pid = Number(readPrivate(join(data, 'host.pid'), 32)?.trim());
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } finally {
    db.close();
  }
}

function countHolding(db: Database.Database): DataFolderHolding {
  const countRows = (from: string): number =>
    db.prepare<unknown[], { count: number }>(`SELECT count(*) AS count FROM ${from}`).get()?.count ?? 0;
  return {
    tasks: countRows('task'),
    decisionsPending: countRows("decision WHERE state = 'pending'"),
    approvalsUnused: countRows("decision WHERE state = 'approved' AND consumed_at IS NULL"),
    sessions: countRows('session'),
    sessionsQueued: countRows("session WHERE state = 'queued'"),
    sessionsRunning: countRows("session WHERE state IN ('starting', 'running')"),
    deliveriesPending: countRows("delivery WHERE state = 'pending'"),
    messagesPending: countRows("message WHERE delivery = 'pending'"),
    tokens:
      countRows('virtual_key WHERE revoked_at IS NULL') + countRows('person_key WHERE revoked_at IS NULL'),
  };
}

/** Returns the fault of its content; loose modes are corrected when the folder is taken over. */
function findKeptFault(paths: KeptPaths): SvcError | null {
  try {
    checkKeptPaths(paths, { modes: false });
    return null;
  } catch (thrown) {
    return asSvcError(thrown);
  }
}

export function describeHostHolder(data: string): string | null {
  const held = findHolder(data);
  if (held === false) return null;
  return held === null
    ? 'an engine has it open; stop it first'
    : `the engine of pid ${held} has it open; stop it first: kill ${held}`;
}

/** Returns the state of the folder, or why it is refused. */
function findState({ root, paths, env }: AdoptPlace): 'absent' | 'empty' | 'ours' | SvcError {
  try {
    return inspectOwnDataFolder({ root, data: paths.data }, env).state;
  } catch (thrown) {
    const error = asSvcError(thrown);
    if (error.code === 'data_folder_unknown') return error;
    throw error;
  }
}

/** Reports whether nothing below it is inspected, because it is not a folder of ours at all. */
const isUnreadable = (error: SvcError): boolean =>
  ['link', 'not_a_folder', 'owner'].includes(readReason(error));

/**
 * Inspects the data folder without changing, running or following anything in it.
 * @param tracked the files there that git tracks
 */
export function inspectDataFolder(place: AdoptPlace, tracked: readonly string[]): DataFolderReport {
  const { paths } = place;
  const found = findState(place);
  const error = found instanceof SvcError ? found : null;
  const report: DataFolderReport = {
    path: paths.data,
    state: 'strange',
    reason: error === null ? null : readReason(error),
    why: error === null ? null : error.message,
    holds: null,
    obstacle: null,
  };
  if (tracked[0] !== undefined) {
    const why = `git tracks ${tracked[0]}, and may replace it at any time`;
    return { ...report, reason: 'tracked', why, obstacle: why };
  }
  if (found === 'absent' || found === 'empty') return { ...report, state: found };
  if (error !== null && isUnreadable(error)) return { ...report, obstacle: error.message };
  const fault = findKeptFault(paths);
  if (fault !== null)
    return {
      ...report,
      reason: report.reason ?? readReason(fault),
      why: report.why ?? fault.message,
      obstacle: fault.message,
    };
  const held = describeHostHolder(paths.data);
  if (held !== null) return error === null ? { ...report, state: 'ours' } : { ...report, obstacle: held };
  return withHolding(place, report);
}

/** Adds the database's content to the report; a database from elsewhere makes the folder strange. */
function withHolding({ paths, env }: AdoptPlace, report: DataFolderReport): DataFolderReport {
  const state = report.reason === null ? 'ours' : 'strange';
  try {
    const copy = copyDatabase(paths.db, env);
    if (copy === null) return { ...report, state };
    try {
      const db = openCopy(copy.file, paths.db);
      try {
        const id = readDataFolderId(paths.data);
        const isBound = id !== null && isDatabaseOf(db, id);
        const holds = countHolding(db);
        if (state === 'strange' || isBound) return { ...report, state, holds };
        return {
          ...report,
          reason: 'database',
          why: `${paths.db} is not the database of this folder`,
          holds,
        };
      } finally {
        db.close();
      }
    } finally {
      copy.remove();
    }
  } catch (thrown) {
    const { message, data } = asSvcError(thrown);
    const reason = report.reason ?? (data.reason as DataFolderFault | undefined) ?? 'database';
    return { ...report, reason, why: report.why ?? message, obstacle: message };
  }
}

import { closeSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SvcError } from '../core/base/errors.ts';
import { openPrivate, readPrivate, replacePrivate } from '../core/base/private-files.ts';
import { platform } from '../core/platform/index.ts';
import { toStorageError } from './sqlite-errors.ts';

export interface HostLock {
  release(): void;
}

/** The message for a second process that wants the folder. */
export interface HolderWords {
  message(pid: number | null): string;
  hint: string;
}

const ENGINE_WORDS: HolderWords = {
  message: (pid) => `an engine already hosts this workspace${pid === null ? '' : ` (pid ${pid})`}`,
  hint: 'use it with the other commands, or stop it with svc down',
};

/**
 * Locks the existing data folder of this machine for this process. The lock is SQLite's own file lock on `host.lock`,
 * so the system releases it however the process ends; a pid file alone could be stale. Throws `already_running` with
 * the first host's pid.
 */
export function holdHostLock(dataDir: string, words: HolderWords = ENGINE_WORDS): HostLock {
  const file = join(dataDir, 'host.lock');
  const pidFile = join(dataDir, 'host.pid');
  try {
    closeSync(openPrivate(file, 'add'));
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw toStorageError(error, `cannot use the data folder ${dataDir}`);
  }
  const network = platform.findNetworkFileSystem(statfsSync(dataDir).type);
  if (network !== null) {
    throw new SvcError(
      'storage_unsafe',
      `${dataDir} is on a network file system (${network}), where locks are unreliable`,
      {
        hint: 'set paths.data and db.path to a folder on a local disk',
      },
    );
  }
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (!String((error as { code?: string }).code).startsWith('SQLITE_BUSY')) {
      throw toStorageError(error, `cannot lock the data folder ${dataDir}`);
    }
    const pid = readPid(pidFile);
    throw new SvcError('already_running', words.message(pid), { hint: words.hint, data: { pid } });
  }
  try {
    replacePrivate(pidFile, `${process.pid}\n`);
  } catch (error) {
    db.close();
    throw toStorageError(error, `cannot use the data folder ${dataDir}`);
  }
  return {
    release() {
      if (db.open) db.close();
    },
  };
}

function readPid(file: string): number | null {
  try {
    const pid = Number(readPrivate(file, 32)?.trim());
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

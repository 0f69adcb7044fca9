import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { readDataFolderId } from './data-folder.ts';

/** Where the host of a workspace listens: `.svc/daemon.json`, mode 0600. */
export interface DaemonRecord {
  pid: number;
  version: string;
  root: string;
  /** The id of the data folder that it is of: what a repository brings along does not know it. */
  dataId: string;
  socket: string;
  http: { host: string; port: number };
  /** Bearer token of the HTTP side. */
  token: string;
  startedAt: string;
  /** The process that starts the host again after a crash; null when there was none, or this is a run's own record. */
  supervisor: { pid: number; pidStart: string } | null;
}

const MOST_BYTES = 64 * 1024;

const recordPath = (dataDir: string): string => join(dataDir, 'daemon.json');

/**
 * Null when there is none; a damaged one, and one that the host of another data folder has written, count as none, since
 * the host's lock and not this file says who hosts. The folder has to be known as this machine's own (`lookAtDataFolder`).
 */
export function readDaemonRecord(dataDir: string): DaemonRecord | null {
  try {
    const record = parseDaemonRecord(readPrivate(recordPath(dataDir), MOST_BYTES));
    return record !== null && record.dataId === readDataFolderId(dataDir) ? record : null;
  } catch {
    return null;
  }
}

/** The record that a text is, whoever wrote it; null for none. */
export function parseDaemonRecord(text: string | null): DaemonRecord | null {
  try {
    const record = JSON.parse(text ?? 'null') as DaemonRecord | null;
    return typeof record?.pid === 'number' && typeof record.socket === 'string' ? record : null;
  } catch {
    return null;
  }
}

export const writeDaemonRecord = (dataDir: string, record: DaemonRecord): void =>
  replacePrivate(recordPath(dataDir), `${JSON.stringify(record, null, 2)}\n`);

export const removeDaemonRecord = (dataDir: string): void => rmSync(recordPath(dataDir), { force: true });

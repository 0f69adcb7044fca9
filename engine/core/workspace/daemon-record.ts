import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { readDataFolderId } from './data-folder.ts';

/** Facts that identify an engine's process even after its end. */
export interface EngineProcess {
  /** Its start time, in the unit of the process table. */
  start: string;
  /** The boot of the machine in which the start time is valid. */
  boot: string;
  /** The kernel's number of its login session; null for none. */
  login: string | null;
}

/** The listening addresses of a workspace's host: `.svc/daemon.json`, mode 0600. */
export interface DaemonRecord {
  pid: number;
  version: string;
  root: string;
  /** Id of its data folder, which a repository cannot know in advance. */
  dataId: string;
  socket: string;
  http: { host: string; port: number };
  /** Bearer token of the HTTP side. */
  token: string;
  startedAt: string;
  /** Null if the machine does not report it. */
  process: EngineProcess | null;
  /** The process that restarts the host after a crash; null if there was none, or in a run's own record. */
  supervisor: { pid: number; pidStart: string } | null;
}

const MOST_BYTES = 64 * 1024;

const recordPath = (dataDir: string): string => join(dataDir, 'daemon.json');

/**
 * Reads the record; null if there is none. A damaged one, or one of another data folder, counts as none, since the
 * host's lock and not this file decides who hosts. The folder must be known as this machine's own
 * (`inspectOwnDataFolder`).
 */
export function readDaemonRecord(dataDir: string): DaemonRecord | null {
  try {
    const record = parseDaemonRecord(readPrivate(recordPath(dataDir), MOST_BYTES));
    return record !== null && record.dataId === readDataFolderId(dataDir) ? record : null;
  } catch {
    return null;
  }
}

/** Parses a record from any source; null for an invalid one. */
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

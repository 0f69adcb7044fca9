import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the host of a workspace listens: `.svc/daemon.json`, mode 0600. */
export interface DaemonRecord {
  pid: number;
  version: string;
  root: string;
  socket: string;
  http: { host: string; port: number };
  /** Bearer token of the HTTP side. */
  token: string;
  startedAt: string;
}

const file = (dataDir: string): string => join(dataDir, 'daemon.json');

/** Null when there is none; a damaged one counts as none, since the host's lock and not this file says who hosts. */
export function readRecord(dataDir: string): DaemonRecord | null {
  try {
    const record = JSON.parse(readFileSync(file(dataDir), 'utf8')) as DaemonRecord;
    return typeof record.pid === 'number' && typeof record.socket === 'string' ? record : null;
  } catch {
    return null;
  }
}

export function writeRecord(dataDir: string, record: DaemonRecord): void {
  const temporary = `${file(dataDir)}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file(dataDir));
}

export const removeRecord = (dataDir: string): void => rmSync(file(dataDir), { force: true });

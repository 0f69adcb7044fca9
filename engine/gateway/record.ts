import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate, replacePrivate } from '../core/base/private-files.ts';

/** The address of a workspace's gateway: `.svc/gateway.json`, mode 0600. */
export interface GatewayRecord {
  pid: number;
  /** Identifies one process together with the pid. */
  pidStart: string;
  version: string;
  dataId: string;
  host: string;
  port: number;
  /** Bearer token of `/-/…`, for the engine only. */
  token: string;
  startedAt: string;
}

const MOST_BYTES = 64 * 1024;
const recordPath = (data: string): string => join(data, 'gateway.json');

/** Reads the record; null if there is none, it is damaged, or it belongs to another data folder. */
export function readGatewayRecord(data: string, dataId: string): GatewayRecord | null {
  try {
    const record = JSON.parse(readPrivate(recordPath(data), MOST_BYTES) ?? 'null') as GatewayRecord | null;
    const isSound = typeof record?.pid === 'number' && typeof record.token === 'string';
    return isSound && record?.dataId === dataId ? record : null;
  } catch {
    return null;
  }
}

export const writeGatewayRecord = (data: string, record: GatewayRecord): void =>
  replacePrivate(recordPath(data), `${JSON.stringify(record, null, 2)}\n`);

/** Removes the record of this process; the record of a later process stays. */
export function removeGatewayRecord(data: string, dataId: string, token: string): void {
  if (readGatewayRecord(data, dataId)?.token === token) rmSync(recordPath(data), { force: true });
}

/** The header by which a gateway identifies its owner, and its value: not the id itself, which is private. */
export const WORKSPACE_HEADER = 'x-svc-workspace';
export const tagWorkspace = (dataId: string): string =>
  createHash('sha256').update(`gateway ${dataId}`).digest('hex').slice(0, 16);

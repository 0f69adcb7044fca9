import { rfc3339 } from '../../core/base/clock.ts';

/** The metadata of a stored text. Times are RFC 3339 UTC. */
export interface StoredText {
  id: string;
  bytes: number;
  lines: number;
  kind: string;
  exitCode: number | null;
  createdAt: string;
  usedAt: string;
}

export interface StoredRow {
  number: number;
  id: string;
  hash: string;
  bytes: number;
  lines: number;
  kind: string;
  exit_code: number | null;
  created_at: number;
  used_at: number;
  ended_at: number | null;
  is_indexed: number;
}

export const toStored = (row: StoredRow): StoredText => ({
  id: row.id,
  bytes: row.bytes,
  lines: row.lines,
  kind: row.kind,
  exitCode: row.exit_code,
  createdAt: rfc3339(row.created_at),
  usedAt: rfc3339(row.used_at),
});

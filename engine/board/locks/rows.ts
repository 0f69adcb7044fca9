import { rfc3339 } from '../../core/base/clock.ts';

/** A lock on a file or folder of the workspace; a folder covers everything below it. Times are RFC 3339 UTC. */
export interface Lock {
  /** Relative to the workspace's folder, `.` for all of it. */
  path: string;
  /** The session that holds it. */
  holder: string;
  /** Increases with every grant, so that another system can reject writes under an older lock. */
  fence: number;
  acquiredAt: string;
  expiresAt: string;
}

export interface LockRow {
  path: string;
  holder: string;
  fence: number;
  acquired_at: number;
  expires_at: number;
}

export const toLock = (row: LockRow): Lock => ({
  path: row.path,
  holder: row.holder,
  fence: row.fence,
  acquiredAt: rfc3339(row.acquired_at),
  expiresAt: rfc3339(row.expires_at),
});

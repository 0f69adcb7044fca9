import { rfc3339 } from '../../../core/base/clock.ts';

export type SeatKind = 'chair' | 'plain';

/** The session of a Chair, or a plain one with a separate name. Times are RFC 3339 UTC. */
export interface SeatSession {
  /** `chair-3`, or the plain session's name. */
  sessionId: string;
  kind: SeatKind;
  /** The registered project; null for the workspace's own. */
  project: string | null;
  agent: string | null;
  title: string | null;
  /** The address that its agent listens at; `{{notify_base}}` of a delivery. */
  notifyBase: string | null;
  pid: number | null;
  openedAt: string;
  seenAt: string;
  closedAt: string | null;
}

export interface SeatRow {
  id: number;
  kind: SeatKind;
  name: string | null;
  project: string | null;
  agent: string | null;
  title: string | null;
  pid: number | null;
  pid_start: string | null;
  notify_base: string | null;
  opened_at: number;
  seen_at: number;
  misses: number;
  closed_at: number | null;
}

export const seatSessionId = (row: Pick<SeatRow, 'id' | 'name'>): string => row.name ?? `chair-${row.id}`;

export const toSeatSession = (row: SeatRow): SeatSession => ({
  sessionId: seatSessionId(row),
  kind: row.kind,
  project: row.project,
  agent: row.agent,
  title: row.title,
  notifyBase: row.notify_base,
  pid: row.pid,
  openedAt: rfc3339(row.opened_at),
  seenAt: rfc3339(row.seen_at),
  closedAt: row.closed_at === null ? null : rfc3339(row.closed_at),
});

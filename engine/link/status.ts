import { describeLease, type LeaseFacts } from '../core/access/index.ts';
import { rfc3339 } from '../core/base/clock.ts';
import type { LinkRow } from './rows.ts';
import type { LinkStanding, LinkState } from './standing.ts';

/** The state of this workspace's link, for status, doctor and the dashboard. */
export interface LinkStatus {
  /** `off`: not linked. */
  state: 'off' | LinkState;
  server: string | null;
  account: string | null;
  person: string | null;
  linkedAt: string | null;
  /** Start of that state. */
  since: string | null;
  /** A clause; null while all is well. */
  problem: string | null;
  /** Events that were not sent to the server yet. */
  waitingEvents: number;
  /** How far the server's clock is ahead, ms. */
  clockOffsetMs: number | null;
  lease: {
    state: LeaseFacts['state'];
    /** Remaining validity, ms; null if it does not end. */
    leftMs: number | null;
    /** A clause, from a day before its end on; null while all is well. */
    problem: string | null;
  };
  tokenFile: string;
  tokenAt: string | null;
  /** Daily figures are collected, and wait until a person has seen their content. */
  isTelemetryWaiting: boolean;
}

const timeOf = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : rfc3339(at);

/** @param standing null while the link is not running, and then `problem` is the reason */
export function buildLinkStatus(
  row: LinkRow | null,
  { standing, problem, lease }: { standing: LinkStanding | null; problem: string | null; lease: LeaseFacts },
  rest: Pick<LinkStatus, 'waitingEvents' | 'tokenFile' | 'isTelemetryWaiting'>,
): LinkStatus {
  const isRevoked = row !== null && row.revokedAt !== null;
  return {
    state: standing?.state ?? (isRevoked ? 'revoked' : 'off'),
    server: row?.server ?? null,
    account: row?.account ?? null,
    person: row?.person ?? null,
    linkedAt: timeOf(row?.linkedAt),
    since: timeOf(standing?.since ?? row?.revokedAt),
    problem: standing?.problem ?? problem,
    clockOffsetMs: standing?.offsetMs ?? null,
    lease: {
      state: lease.state,
      leftMs: lease.leftMs,
      // An unlinked workspace needs none.
      problem: standing === null || isRevoked ? null : describeLease(lease),
    },
    tokenAt: timeOf(row?.tokenAt),
    ...rest,
  };
}

import { describeLease, type LeaseFacts } from '../core/access/index.ts';
import { rfc3339 } from '../core/base/clock.ts';
import type { LinkStanding, LinkState } from './client.ts';
import type { LinkRow } from './rows.ts';

/** How the link of this workspace stands, for status, doctor and the dashboard. */
export interface LinkStatus {
  /** `off`: not linked. */
  state: 'off' | LinkState;
  server: string | null;
  account: string | null;
  person: string | null;
  linkedAt: string | null;
  /** Since when it is in that state. */
  since: string | null;
  /** A clause; null while all is well. */
  problem: string | null;
  /** Events that the server has not been told. */
  waitingEvents: number;
  /** How far the server's clock is ahead, ms. */
  clockOffsetMs: number | null;
  lease: {
    state: LeaseFacts['state'];
    /** How long it counts yet, ms; null for one that does not end. */
    leftMs: number | null;
    /** A clause, from a day before its end on; null while all is well. */
    problem: string | null;
  };
  tokenFile: string;
  tokenAt: string | null;
  /** Figures of days are counted, and wait until a person has seen what they hold. */
  isTelemetryWaiting: boolean;
}

const timeOf = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : rfc3339(at);

/** @param standing null while nobody keeps the link, and then `problem` says why */
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
      // Whoever is not linked, or no longer, needs none.
      problem: standing === null || isRevoked ? null : describeLease(lease),
    },
    tokenAt: timeOf(row?.tokenAt),
    ...rest,
  };
}

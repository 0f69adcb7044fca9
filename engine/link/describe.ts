import { formatCount, formatHours, formatLocalTime } from '../core/base/text.ts';

/** The input for a sentence about the link: `LinkStatus` in wire form. */
export interface LinkFacts {
  state: string;
  server: string | null;
  since: string | null;
  problem: string | null;
  waiting_events: number;
  clock_offset_ms: number | null;
  lease: { state: string; left_ms: number | null; problem: string | null };
  is_telemetry_waiting: boolean;
}

/** Smaller clock differences are ignored, ms. */
const CLOSE_MS = 5000;

const WORDS: Readonly<Record<string, string>> = {
  off: 'off',
  connecting: 'connecting',
  connected: 'connected',
  unreachable: 'does not answer',
  displaced: 'displaced: another engine uses the token of this workspace',
  outdated: 'of a different version',
  revoked: 'revoked: svc link links it again',
};

/** Remedies for states that already describe the problem. */
const STEPS: ReadonlyMap<string, string | null> = new Map([
  ['revoked', null],
  ['displaced', 'stop that engine, or run svc link here, which invalidates its token'],
]);

/** Returns the state of the link in a few words, for narrow places; null for a workspace that was never linked. */
export function describeLinkState({
  server,
  state,
  lease,
}: Pick<LinkFacts, 'server' | 'state' | 'lease'>): string | null {
  if (server === null) return null;
  const link = state === 'connected' ? 'linked' : state === 'unreachable' ? 'server gone' : `link ${state}`;
  if (lease.problem === null) return link;
  const ending = lease.state === 'valid' ? `ends in ${formatHours(lease.left_ms ?? 0)}` : lease.state;
  return `${link}, lease ${ending}`;
}

/** Reports whether a person must check the link. */
export const isLinkTroubled = ({
  server,
  state,
  lease,
}: Pick<LinkFacts, 'server' | 'state' | 'lease'>): boolean =>
  server !== null && ((state !== 'connected' && state !== 'connecting') || lease.problem !== null);

/** Returns one line about the link; null for a workspace that was never linked. */
export function describeLink(link: LinkFacts): string | null {
  if (link.server === null) return null;
  const since = link.since === null ? '' : ` since ${formatLocalTime(link.since)}`;
  const offset = link.clock_offset_ms ?? 0;
  const clock =
    Math.abs(offset) < CLOSE_MS
      ? null
      : `its clock is ${formatCount(Math.round(Math.abs(offset) / 1000), 'second')} ${offset > 0 ? 'ahead' : 'behind'}`;
  const waits =
    link.waiting_events === 0 ? null : `${formatCount(link.waiting_events, 'event')} not sent yet`;
  const step = STEPS.get(link.state);
  const problem = step === undefined ? link.problem : step;
  const telemetry = link.is_telemetry_waiting ? 'telemetry waits for svc telemetry show' : null;
  const more = [problem, link.lease.problem, waits, clock, telemetry].filter((part) => part !== null);
  return [`${link.server}: ${WORDS[link.state] ?? link.state}${since}`, ...more].join('; ');
}

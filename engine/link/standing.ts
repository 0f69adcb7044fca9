import { backoffMs } from '../core/base/backoff.ts';
import type { Clock } from '../core/base/clock.ts';
import type { SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';

const BACKOFF = { firstMs: 1000, longestMs: 60_000, shortestMs: 250 };
/** Interval of a displaced engine's checks, ms: while two alternate, neither receives a command. */
const DISPLACED_MS = 30_000;

/** The state of the link. */
export type LinkState = 'connecting' | 'connected' | 'unreachable' | 'displaced' | 'outdated' | 'revoked';

export interface LinkStanding {
  state: LinkState;
  /** Start of the state, Unix ms. */
  since: number;
  /** The last error of the server or the connection; null while all is well. */
  problem: string | null;
  /** How far the server's clock is ahead, ms; null before the first contact. */
  offsetMs: number | null;
}

export interface StandingDeps {
  clock: Clock;
  log: Pick<Log, 'info'>;
  /** Called when the server no longer accepts the token. */
  onRevoked(): void;
  random?(): number;
}

/** Tracks how the server answers. */
export function createStanding({ clock, log, onRevoked, random = Math.random }: StandingDeps) {
  let standing: LinkStanding = {
    state: 'connecting',
    since: clock.now(),
    problem: null,
    offsetMs: null,
  };

  function setState(state: LinkState, problem: string | null = null): void {
    if (state !== standing.state) {
      log.info({ state, problem }, 'the link has changed');
      standing = { ...standing, state, since: clock.now(), problem };
    } else standing = { ...standing, problem };
  }

  function noteTime(serverTime: string, askedAt: number): void {
    standing = { ...standing, offsetMs: Math.round(Date.parse(serverTime) - (askedAt + clock.now()) / 2) };
  }

  /** Evaluates a failed call. Returns the time to wait, or null for permanently. */
  function judgeFailure(error: SvcError, tries: number): number | null {
    if (error.code === 'revoked') {
      setState('revoked', error.message);
      onRevoked();
      return null;
    }
    if (error.code === 'displaced') {
      setState('displaced', error.message);
      return DISPLACED_MS;
    }
    if (error.code === 'protocol_mismatch') {
      setState('outdated', error.message);
      return BACKOFF.longestMs;
    }
    setState('unreachable', error.message);
    const asked = error.data.retry_after_ms;
    return typeof asked === 'number' ? Math.max(1000, asked) : backoffMs(tries, { ...BACKOFF, random });
  }

  return { read: () => standing, setState, noteTime, judgeFailure };
}

import { backoffMs } from '../../core/base/backoff.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Link } from './link.ts';
import { linkLostError } from './link-lost.ts';

const FIRST_PAUSE_MS = 2000;
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const PAUSES_IN_LEASE = 10;
/** A link that lived that long was not a failure, ms. */
const PROVEN_MS = 60_000;

export interface KeepLinkedOptions {
  /** Opens a link; ends the attempt when the signal aborts. */
  open(signal: AbortSignal): Promise<Link>;
  /** Called for each new link. If it throws, the link is closed, which counts as a failure. */
  onLinked(link: Link): void;
  /** Called when a link was lost, and after each attempt that failed. */
  onLost(error: SvcError): void;
  /** Returns how long runs may continue without a link, ms; null, or absent, for ever: pauses stay well below that. */
  readLeaseMs?(): number | null;
  clock?: Pick<Clock, 'monotonic'>;
  /** Randomises the pauses; Math.random if absent. */
  random?: () => number;
  /** Waits for a pause to pass; a timer if absent. Ends early when the signal aborts. */
  pause?(ms: number, signal: AbortSignal): Promise<void>;
}

export interface KeptLink {
  /** Returns the link, or null while there is none. */
  current(): Link | null;
  /** Resolves with the current or next link. Rejects with `cancelled` when the signal aborts, or after `close`. */
  next(signal?: AbortSignal): Promise<Link>;
  /** Ends the pause before the next attempt, also one that is about to begin. */
  reconnectNow(): void;
  /** Closes the link, and resolves when nothing is in progress. */
  close(): Promise<void>;
}

/**
 * Keeps one link open. After its end, or a failed attempt, it opens another one after 1 to 60 s, longer after each failure
 * in a row.
 */
export function keepLinked(options: KeepLinkedOptions): KeptLink {
  const { readLeaseMs = () => null } = options;
  const { open, onLinked, onLost, clock = systemClock, random = Math.random, pause = waitFor } = options;
  const closing = new AbortController();
  const { signal: closed } = closing;
  const waiting = new Set<{ resolve(link: Link): void; reject(error: SvcError): void }>();
  let current: Link | null = null;
  let pausing: AbortController | null = null;
  let isHurried = false;

  /** Opens a link and waits for its end. Returns whether it lived long; throws if it could not be opened. */
  async function holdOne(): Promise<{ hasProven: boolean; reason: SvcError }> {
    const link = await openUnlessClosed(open, closed);
    const openedAt = clock.monotonic();
    try {
      onLinked(link);
    } catch (thrown) {
      link.close();
      throw thrown;
    }
    current = link;
    isHurried = false;
    const close = (): void => link.close();
    closed.addEventListener('abort', close, { once: true });
    if (closed.aborted) close();
    for (const { resolve } of waiting) resolve(link);
    waiting.clear();
    const reason = await link.ended;
    current = null;
    closed.removeEventListener('abort', close);
    return {
      hasProven: clock.monotonic() - openedAt >= PROVEN_MS,
      reason: reason ?? linkLostError(null),
    };
  }

  async function keep(): Promise<void> {
    let failures = 0;
    while (!closed.aborted) {
      let error: SvcError;
      try {
        const { hasProven, reason } = await holdOne();
        if (hasProven) failures = 0;
        error = reason;
      } catch (thrown) {
        error = asSvcError(thrown);
      }
      if (closed.aborted) return;
      onLost(error);
      failures += 1;
      pausing = new AbortController();
      if (isHurried) pausing.abort();
      isHurried = false;
      await pause(
        backoffMs(failures, {
          firstMs: FIRST_PAUSE_MS,
          longestMs: chooseLongestPause(readLeaseMs()),
          shortestMs: SHORTEST_PAUSE_MS,
          random,
        }),
        AbortSignal.any([closed, pausing.signal]),
      );
      pausing = null;
    }
  }
  const keeping = keep();

  return {
    current: () => current,
    next(signal) {
      if (closed.aborted) return Promise.reject(closedError());
      if (signal?.aborted) return Promise.reject(unwantedError());
      if (current !== null) return Promise.resolve(current);
      const { promise, resolve, reject } = Promise.withResolvers<Link>();
      const waiter = { resolve, reject };
      const onAbort = (): void => reject(unwantedError());
      waiting.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      return promise.finally(() => {
        waiting.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      });
    },
    reconnectNow() {
      if (pausing === null) isHurried = true;
      else pausing.abort();
    },
    async close() {
      closing.abort();
      for (const { reject } of waiting) reject(closedError());
      waiting.clear();
      await keeping;
    },
  };
}

/** Several attempts fit into the lease, so that it does not end while both ends could reach each other. */
const chooseLongestPause = (leaseMs: number | null): number =>
  leaseMs === null
    ? LONGEST_PAUSE_MS
    : Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, leaseMs / PAUSES_IN_LEASE));

const closedError = (): SvcError => new SvcError('cancelled', 'the link to the other machine was closed');
const unwantedError = (): SvcError =>
  new SvcError('cancelled', 'the wait for the other machine was cancelled');

/** Resolves after a time, or when the signal aborts. Does not keep the process alive. */
const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal.addEventListener('abort', end, { once: true });
  });

/** Opens a link, and closes one that is opened too late. */
async function openUnlessClosed(open: KeepLinkedOptions['open'], closed: AbortSignal): Promise<Link> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(closedError());
  closed.addEventListener('abort', onAbort, { once: true });
  const opening = open(closed);
  try {
    return await Promise.race([opening, aborted.promise]);
  } catch (thrown) {
    opening.then(
      (link) => link.close(),
      () => undefined,
    );
    throw thrown;
  } finally {
    closed.removeEventListener('abort', onAbort);
  }
}

/** Pauses between failing attempts, doubled each time. */
export interface BackoffPolicy {
  /** After the first failure. */
  firstMs: number;
  /** The maximum pause. */
  longestMs: number;
  /**
   * In [0, 1). Randomises each pause between the minimum and its full length (full jitter), so that many clients do
   * not retry at the same time.
   */
  random?: () => number;
  /** Minimum pause with `random`. */
  shortestMs?: number;
}

/** Returns the pause after a number of failures in a row, starting at 1. */
export function backoffMs(
  failures: number,
  { firstMs, longestMs, random, shortestMs = 0 }: BackoffPolicy,
): number {
  const pause = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return random === undefined ? pause : Math.max(shortestMs, Math.round(random() * pause));
}

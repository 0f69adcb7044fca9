/** Pauses between tries that fail, twice as long each time. */
export interface Backoff {
  /** After the first failure. */
  firstMs: number;
  /** However many have failed. */
  longestMs: number;
  /** In [0, 1). With it each pause is anywhere up to what it would be: full jitter, so that many do not try at once. */
  random?: () => number;
  /** What is left of a pause at least, with `random`. */
  shortestMs?: number;
}

/** How long to wait after so many failures in a row, the first of which is 1. */
export function backoffMs(failures: number, { firstMs, longestMs, random, shortestMs = 0 }: Backoff): number {
  const pause = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return random === undefined ? pause : Math.max(shortestMs, Math.round(random() * pause));
}

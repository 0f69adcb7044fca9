import { backoffMs } from '../../core/base/backoff.ts';

/** The result of notifying one session. */
export type DeliveryOutcome =
  | { state: 'told'; note: string | null }
  /** The agent wants no notices. */
  | { state: 'none' }
  /** `retry` is false when trying again cannot help. `until`, ms: no attempt is made before then. */
  | { state: 'failed'; error: string; retry: boolean; until?: number };

export const TOLD: DeliveryOutcome = { state: 'told', note: null };

export const failedOutcome = (error: string, retry = true): DeliveryOutcome => ({
  state: 'failed',
  error,
  retry,
});

const FIRST_MS = 1000;
const LONGEST_MS = 5 * 60_000;

/** 1 s, 2, 4 … 5 minutes. */
export const retryDelayMs = (failures: number): number =>
  backoffMs(failures, { firstMs: FIRST_MS, longestMs: LONGEST_MS });

/** The attempts that fit into 24 hours. Counted, not timed: a message may have waited for its worker before the first. */
export const MOST_TRIES = (() => {
  let tries = 1;
  for (let ms = 0; ms < 24 * 3_600_000; tries += 1) ms += retryDelayMs(tries);
  return tries;
})();

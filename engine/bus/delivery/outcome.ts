import { backoffMs } from '../../base/backoff.ts';
/** What came of telling one session. */
export type Outcome =
  | { state: 'told'; note: string | null }
  /** The agent wants no notices. */
  | { state: 'none' }
  /** `retry` unless trying again cannot help. `until` postpones the next try without one. */
  | { state: 'failed'; error: string; retry: boolean; until?: number };

export const TOLD: Outcome = { state: 'told', note: null };

export const failed = (error: string, retry = true): Outcome => ({ state: 'failed', error, retry });

const FIRST_MS = 1000;
const LONGEST_MS = 5 * 60_000;

/** 1 s, 2, 4 … 5 minutes. */
export const tryAgainMs = (failures: number): number =>
  backoffMs(failures, { firstMs: FIRST_MS, longestMs: LONGEST_MS });

/** As many tries as fit into 24 hours: counted, because a message may have waited for its worker before the first. */
export const MOST_TRIES = (() => {
  let tries = 1;
  for (let ms = 0; ms < 24 * 3_600_000; tries += 1) ms += tryAgainMs(tries);
  return tries;
})();

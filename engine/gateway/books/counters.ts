/** All tokens of a call, in SQL. */
export const CALL_TOKENS = 'input + output + cache_read + cache_write';

/** True for calls that an upstream processed; stub answers, cached answers and calls over budget have no tokens. */
export const IS_SPENT = "outcome NOT IN ('stub', 'cached', 'denied')";

/** The counters of calls, with the SQL that sums them. Tokens follow `TokenUsage`. */
export const USAGE_COUNTERS = {
  calls: 'count(*)',
  failed: "sum(outcome IN ('failed', 'cut'))",
  denied: "sum(outcome = 'denied')",
  input: 'sum(input)',
  output: 'sum(output)',
  cache_read: 'sum(cache_read)',
  cache_write: 'sum(cache_write)',
  cache_write_hour: 'sum(cache_write_hour)',
  /** The part of all tokens that no upstream reported. */
  estimated_tokens: `sum(iif(is_estimated, ${CALL_TOKENS}, 0))`,
} as const;

export type UsageCounts = Record<keyof typeof USAGE_COUNTERS, number>;

const NAMES = Object.keys(USAGE_COUNTERS) as (keyof UsageCounts)[];

/** The counters as columns of a SELECT. */
export const COUNTER_COLUMNS = NAMES.map((name) => `${USAGE_COUNTERS[name]} AS ${name}`).join(', ');

export const makeCounts = (): UsageCounts =>
  Object.fromEntries(NAMES.map((name) => [name, 0])) as UsageCounts;

/** Adds counters to `sum`. */
export function addCounts(sum: UsageCounts, more: UsageCounts): void {
  for (const name of NAMES) sum[name] += more[name];
}

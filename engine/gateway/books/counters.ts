/** All tokens of a call, in SQL. */
export const CALL_TOKENS = 'input + output + cache_read + cache_write';

/** Whether an upstream has worked on a call: what the stub or the cache has answered, or a budget denied, costs nothing. */
export const IS_SPENT = "outcome NOT IN ('stub', 'cached', 'denied')";

/** What is counted of calls, and how SQL sums it. Tokens are those of `TokenUsage`. */
export const USAGE_COUNTERS = {
  calls: 'count(*)',
  failed: "sum(outcome IN ('failed', 'cut'))",
  denied: "sum(outcome = 'denied')",
  input: 'sum(input)',
  output: 'sum(output)',
  cache_read: 'sum(cache_read)',
  cache_write: 'sum(cache_write)',
  cache_write_hour: 'sum(cache_write_hour)',
  /** Of all tokens: those that no upstream has told. */
  estimated: `sum(iif(is_estimated, ${CALL_TOKENS}, 0))`,
  /** Of all tokens: those that an upstream has worked on. */
  spent: `sum(iif(${IS_SPENT}, ${CALL_TOKENS}, 0))`,
} as const;

export type UsageCounts = Record<keyof typeof USAGE_COUNTERS, number>;

const NAMES = Object.keys(USAGE_COUNTERS) as (keyof UsageCounts)[];

/** The first version of the books that knows how long a cache is kept. */
const WITH_HOURS = 3;

/** The counters as columns of a SELECT, for books of that version. */
export const counterColumns = (version: number): string =>
  NAMES.map((name) => {
    const isMissing = name === 'cache_write_hour' && version < WITH_HOURS;
    return `${isMissing ? '0' : USAGE_COUNTERS[name]} AS ${name}`;
  }).join(', ');

export const makeCounts = (): UsageCounts =>
  Object.fromEntries(NAMES.map((name) => [name, 0])) as UsageCounts;

/** Adds to `sum`. */
export function addCounts(sum: UsageCounts, more: UsageCounts): void {
  for (const name of NAMES) sum[name] += more[name];
}

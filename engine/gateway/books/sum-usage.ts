import { sumRowTokens } from '../tokens.ts';
import { costOf, type Pricing } from './pricing.ts';
import type { UsagePart } from './read.ts';

/** By what usage is summed. */
export const USAGE_GROUPS = [
  'session',
  'worker',
  'task',
  'person',
  'provider',
  'model',
  'protocol',
  'day',
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What calls have used together. Tokens as in `TokenUsage`. */
export interface UsageSum {
  /** Of the group; null where calls have none. */
  key: string | null;
  calls: number;
  failed: number;
  denied: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  tokens: number;
  /** Of all tokens: those that no upstream has told. */
  estimated: number;
  /** Of all tokens: those that an upstream has worked on, and not the stub or the cache. */
  spent: number;
  /** US dollars for the tokens whose price is known; null where none is. */
  cost_usd: number | null;
  /** Tokens that were spent and whose price is not known. */
  unpriced: number;
}

const COUNTS = [
  'calls',
  'failed',
  'denied',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'estimated',
  'spent',
] as const satisfies readonly (keyof UsagePart & keyof UsageSum)[];

const makeSum = (key: string | null): UsageSum => ({
  key,
  calls: 0,
  failed: 0,
  denied: 0,
  input: 0,
  output: 0,
  cache_read: 0,
  cache_write: 0,
  tokens: 0,
  estimated: 0,
  spent: 0,
  cost_usd: null,
  unpriced: 0,
});

function addPart(sum: UsageSum, part: UsagePart, pricing: Pricing): void {
  for (const name of COUNTS) sum[name] += part[name];
  sum.tokens += sumRowTokens(part);
  if (part.spent === 0) return;
  const price = pricing(part.provider, part.model);
  if (price === null) sum.unpriced += part.spent;
  else sum.cost_usd = (sum.cost_usd ?? 0) + costOf(part, price);
}

/** Everything together. */
export function sumAllUsage(parts: readonly UsagePart[], pricing: Pricing): Omit<UsageSum, 'key'> {
  const { key: _, ...sum } = sumUsage(parts, () => null, pricing)[0] ?? makeSum(null);
  return sum;
}

/** By whatever `keyOf` says of a part; what has used most comes first. */
export function sumUsage(
  parts: readonly UsagePart[],
  keyOf: (part: UsagePart) => string | null,
  pricing: Pricing,
): UsageSum[] {
  const sums = new Map<string | null, UsageSum>();
  for (const part of parts) {
    const key = keyOf(part);
    const sum = sums.get(key) ?? makeSum(key);
    sums.set(key, sum);
    addPart(sum, part, pricing);
  }
  return [...sums.values()].sort((one, other) => other.tokens - one.tokens || other.calls - one.calls);
}

import { sumRowTokens } from '../tokens.ts';
import { addCounts, makeCounts, type UsageCounts } from './counters.ts';
import { costOf, type ModelPricing } from './pricing.ts';
import type { UsagePart } from './read.ts';

/** The fields that usage can be grouped by. */
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

/** The combined usage of calls. */
export interface UsageSum extends UsageCounts {
  /** The key of the group; null if its calls have none. */
  key: string | null;
  tokens: number;
  /** US dollars for tokens with a known price; null if no price is known. */
  cost_usd: number | null;
  /** Tokens that were spent at an unknown price. */
  unpriced: number;
}

const makeSum = (key: string | null): UsageSum => ({
  key,
  ...makeCounts(),
  tokens: 0,
  cost_usd: null,
  unpriced: 0,
});

function addPart(sum: UsageSum, part: UsagePart, pricing: ModelPricing): void {
  addCounts(sum, part);
  sum.tokens += sumRowTokens(part);
  if (part.spent === 0) return;
  const price = pricing(part.provider, part.model);
  if (price === null) sum.unpriced += part.spent;
  else sum.cost_usd = (sum.cost_usd ?? 0) + costOf(part, price);
}

/** Returns the total. */
export function sumAllUsage(parts: readonly UsagePart[], pricing: ModelPricing): Omit<UsageSum, 'key'> {
  const { key: _, ...sum } = sumUsage(parts, () => null, pricing)[0] ?? makeSum(null);
  return sum;
}

/** Groups by `keyOf`, highest usage first. */
export function sumUsage(
  parts: readonly UsagePart[],
  keyOf: (part: UsagePart) => string | null,
  pricing: ModelPricing,
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

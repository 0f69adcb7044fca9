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
  /** Tokens at an unknown price. */
  unpriced: number;
  /** True if a number of tokens or a price is an estimate. */
  estimated: boolean;
}

/** Calls of one model at one provider. */
export type PricedPart = UsageCounts & Pick<UsagePart, 'provider' | 'model'>;

/** Sums the calls of each model at each provider. */
export function mergeParts(parts: readonly PricedPart[]): PricedPart[] {
  const merged = new Map<string, PricedPart>();
  for (const part of parts) {
    const { provider, model } = part;
    const key = JSON.stringify([provider, model]);
    const sum = merged.get(key) ?? { provider, model, ...makeCounts() };
    merged.set(key, sum);
    addCounts(sum, part);
  }
  return [...merged.values()];
}

const makeSum = (key: string | null): UsageSum => ({
  key,
  ...makeCounts(),
  tokens: 0,
  cost_usd: null,
  unpriced: 0,
  estimated: false,
});

function addPart(sum: UsageSum, part: PricedPart, pricing: ModelPricing): void {
  addCounts(sum, part);
  const tokens = sumRowTokens(part);
  sum.tokens += tokens;
  if (tokens === 0) return;
  const price = pricing(part.provider, part.model);
  if (part.estimated_tokens > 0) sum.estimated = true;
  if (price === null) sum.unpriced += tokens;
  else {
    sum.cost_usd = (sum.cost_usd ?? 0) + costOf(part, price);
    if (price.isGuessed) sum.estimated = true;
  }
}

/** Returns the total. */
export function sumAllUsage(parts: readonly PricedPart[], pricing: ModelPricing): Omit<UsageSum, 'key'> {
  const { key: _, ...sum } = sumUsage(parts, () => null, pricing)[0] ?? makeSum(null);
  return sum;
}

/** Groups by `keyOf`, highest usage first. */
export function sumUsage<P extends PricedPart>(
  parts: readonly P[],
  keyOf: (part: P) => string | null,
  pricing: ModelPricing,
): UsageSum[] {
  const sums = new Map<string | null, UsageSum>();
  for (const part of parts) {
    const key = keyOf(part);
    const sum = sums.get(key) ?? makeSum(key);
    sums.set(key, sum);
    addPart(sum, part, pricing);
  }
  // Calls without tokens, such as answers of the stub, are known to cost nothing.
  for (const sum of sums.values()) if (sum.calls > 0 && sum.unpriced === 0) sum.cost_usd ??= 0;
  return [...sums.values()].sort((one, other) => other.tokens - one.tokens || other.calls - one.calls);
}

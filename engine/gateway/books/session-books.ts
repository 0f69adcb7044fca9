import { formatId } from '../../core/base/ids.ts';
import type { SessionBooks, SessionUsage } from '../../workers/sessions/index.ts';
import type { ModelPricing } from './pricing.ts';
import type { SessionCalls } from './session-calls.ts';
import { mergeParts, type PricedPart, sumAllUsage } from './sum-usage.ts';

/** Returns what calls have used, as people see it; null for none. */
export function describeParts(parts: readonly PricedPart[], pricing: ModelPricing): SessionUsage | null {
  if (parts.length === 0) return null;
  const sum = sumAllUsage(parts, pricing);
  return {
    input: sum.input + sum.cache_read + sum.cache_write,
    cached: sum.cache_read,
    output: sum.output,
    costUsd: sum.cost_usd,
    unpriced: sum.unpriced,
    estimatedTokens: sum.estimated_tokens,
    estimated: sum.estimated,
  };
}

/**
 * Creates the reports to sessions about their calls.
 * @param pricing the current prices
 * @param issuedAt when the last key of a session was issued, which is before its run could call; null for never
 */
export const createSessionBooks = (
  calls: SessionCalls,
  pricing: () => ModelPricing,
  issuedAt: (sessionId: string) => number | null,
): SessionBooks => ({
  sumSessions(sessions) {
    const findParts = calls.findParts(sessions);
    const sums = new Map<number, SessionUsage>();
    for (const id of sessions) {
      const parts = findParts(id);
      const usage = parts.length === 0 ? null : describeParts(parts, pricing());
      if (usage !== null) sums.set(id, usage);
    }
    return sums;
  },
  hasCalled(session) {
    const since = issuedAt(formatId('s', session));
    return (
      since !== null &&
      calls
        .findParts([session])(session)
        .some((part) => part.last_at >= since)
    );
  },
});

/** The calls of sessions, for the statistics. */
export interface CallStatistics extends Pick<SessionCalls, 'listParts'> {
  /** Sums the calls of each model at each provider. */
  mergeParts(parts: readonly PricedPart[]): PricedPart[];
  /** Returns what calls have used, at the current prices; null for none. */
  describeParts(parts: readonly PricedPart[]): SessionUsage | null;
}

/** Creates the reports to the statistics about calls. @param pricing the current prices */
export const createCallStatistics = (
  { listParts }: Pick<SessionCalls, 'listParts'>,
  pricing: () => ModelPricing,
): CallStatistics => ({
  listParts,
  mergeParts,
  describeParts: (parts) => describeParts(parts, pricing()),
});

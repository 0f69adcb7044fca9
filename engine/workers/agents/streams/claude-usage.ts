import { asJson, asNumber, type JsonRecord } from './json-lines.ts';
import { createRecent } from './recent.ts';
import type { StreamUsage } from './stream.ts';

/**
 * Reads the usage of one message or a whole run. Claude counts cached input separately; with a total it is included
 * in the input.
 */
export function readClaudeUsage(usage: JsonRecord): StreamUsage | null {
  if (typeof usage.input_tokens !== 'number' || typeof usage.output_tokens !== 'number') return null;
  const cached = asNumber(usage.cache_read_input_tokens);
  const apart = 'total_tokens' in usage ? 0 : cached + asNumber(usage.cache_creation_input_tokens);
  return { input: usage.input_tokens + apart, cached, output: usage.output_tokens, costUsd: null };
}

/** Sums usage by model, which includes subagents; null if nothing is reported. */
export function sumUsageByModel(models: unknown): StreamUsage | null {
  const all = Object.values(asJson(models)).map((each) => {
    const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens, costUSD } =
      asJson(each);
    const cached = asNumber(cacheReadInputTokens);
    return {
      input: asNumber(inputTokens) + cached + asNumber(cacheCreationInputTokens),
      cached,
      output: asNumber(outputTokens),
      costUsd: typeof costUSD === 'number' ? costUSD : null,
    };
  });
  return all.length === 0 ? null : sumUsage(all);
}

const negateUsage = ({ input, cached, output }: StreamUsage): StreamUsage => ({
  input: -input,
  cached: -cached,
  output: -output,
  costUsd: null,
});

export const sumUsage = (all: readonly StreamUsage[]): StreamUsage =>
  all.reduce((total, each) => ({
    input: total.input + each.input,
    cached: total.cached + each.cached,
    output: total.output + each.output,
    costUsd:
      total.costUsd === null && each.costUsd === null ? null : (total.costUsd ?? 0) + (each.costUsd ?? 0),
  }));

/** Returns a function that sums the usage of messages: the same message is printed more than once. */
export function createMessageSum(): (id: string, usage: StreamUsage) => StreamUsage {
  const usages = createRecent<StreamUsage>();
  let total: StreamUsage = { input: 0, cached: 0, output: 0, costUsd: null };
  return (id, usage) => {
    const told = usages.get(id);
    usages.set(id, usage);
    total = sumUsage([total, usage, ...(told === undefined ? [] : [negateUsage(told)])]);
    return total;
  };
}

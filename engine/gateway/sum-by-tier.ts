import type { GatewayConfig } from './build-settings.ts';
import type { ModelTier } from './settings.ts';

/** Providers that svc creates from keys other than `ai.providers`. */
const OWN: Readonly<Record<string, ModelTier>> = { ollama: 'local', anthropic: 'paid' };

/** Returns tokens by the tier of the provider in the current svc.yaml; `other` for a provider that it no longer names. */
export function sumByTier(
  { ai }: Pick<GatewayConfig, 'ai'>,
  used: readonly { provider: string | null; tokens: number }[],
): Partial<Record<ModelTier | 'other', number>> {
  const sums: Partial<Record<ModelTier | 'other', number>> = {};
  for (const { provider, tokens } of used) {
    const tier =
      ai.providers.find(({ name }) => name === provider)?.tier ?? OWN[provider ?? ''] ?? ('other' as const);
    sums[tier] = (sums[tier] ?? 0) + tokens;
  }
  return sums;
}

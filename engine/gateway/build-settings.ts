import type * as z from 'zod';
import type { ModelLimits } from '../core/models/index.ts';
import type { aiSchema, gatewaySchema } from './config.ts';
import { buildOllamaUrl, readEndpoint } from './endpoint.ts';
import type { GatewaySettings, LiveZoneSettings, Provider } from './settings.ts';

/** The configuration sections of the gateway. */
export interface GatewayConfig {
  ai: z.output<typeof aiSchema>;
  gateway: z.output<typeof gatewaySchema>;
  context: ContextConfig;
}

/** The part of the section `context` that it uses. */
interface ContextConfig {
  threshold_bytes: number;
  ttl_minutes: number;
  guidance: {
    crush: boolean;
    externalize: boolean;
    auto_gateway: boolean;
    live_zone: boolean;
    protect_tools: readonly string[];
  };
}

const USUAL_CACHE_ENTRIES = 256;
const UNKNOWN: ModelLimits = { context: null, output: null };

/** Returns the settings of the gateway; `lookup` resolves the named keys. Holds secrets. */
export function buildSettings(
  { ai, gateway, context }: GatewayConfig,
  lookup: (name: string) => string | undefined,
  contentOf: readonly string[],
): GatewaySettings {
  const findProviderKey = (own: string, variable: string): string | null =>
    own || (variable === '' ? null : lookup(variable)) || null;
  const providers: Provider[] = ai.providers
    .filter(({ enabled }) => enabled !== false)
    .map(
      ({ name, base_url, api_key, api_key_env, model, tier, priority, context = null, output = null }) => ({
        name,
        key: findProviderKey(api_key, api_key_env),
        takesClientKey: false,
        model,
        limits: { context, output },
        tier,
        priority,
        ...readEndpoint(base_url),
      }),
    );
  if (ai.ollama.host !== '')
    providers.push({
      name: 'ollama',
      baseUrl: buildOllamaUrl(ai.ollama.host),
      key: null,
      takesClientKey: false,
      model: ai.ollama.model,
      limits: UNKNOWN,
      tier: 'local',
      priority: 0,
      protocols: ['chat'],
    });
  const { base_url, api_key, api_key_env } = ai.passthrough.anthropic;
  if (base_url !== '') {
    const key = findProviderKey(api_key, api_key_env);
    providers.push({
      name: 'anthropic',
      key,
      takesClientKey: key === null,
      model: '',
      limits: UNKNOWN,
      tier: 'paid',
      priority: 0,
      ...readEndpoint(base_url, 'messages'),
    });
  }
  return {
    mode: ai.mode,
    providers,
    budgetTokensDay: ai.budget_tokens_day,
    cacheTtlSec: gateway.cache.ttl_sec,
    longToolBytes: context.threshold_bytes,
    cacheEntries: gateway.cache.max_entries || USUAL_CACHE_ENTRIES,
    contentOf,
    probeIntervalSec: ai.probe_interval_sec,
    liveZone: buildLiveZone(ai, context),
  };
}

function buildLiveZone({ mode }: GatewayConfig['ai'], context: ContextConfig): LiveZoneSettings | null {
  const { guidance, threshold_bytes: longBytes, ttl_minutes } = context;
  const { auto_gateway: isOn, live_zone: onlyLast, crush, externalize, protect_tools } = guidance;
  if (mode !== 'live' || !isOn || (!crush && !externalize)) return null;
  return {
    onlyLast,
    crushes: crush,
    stores: externalize,
    longBytes,
    protectedTools: protect_tools,
    idleMs: ttl_minutes * 60_000,
  };
}

/** Returns variables that hold keys of upstreams, which no agent receives. */
export const listProviderVariables = ({ ai }: GatewayConfig): string[] =>
  [...ai.providers.map(({ api_key_env }) => api_key_env), ai.passthrough.anthropic.api_key_env].filter(
    (name) => name !== '',
  );

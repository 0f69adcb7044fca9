import { findKnownModel, type ModelPrice } from '../../core/models/index.ts';
import type { GatewayConfig } from '../build-settings.ts';
import type { UsageCounts } from './counters.ts';

/** The price of a model at a provider. */
export interface FoundPrice extends ModelPrice {
  /** True if it is the list price of the model's maker, and another provider is paid. */
  isGuessed: boolean;
}

/** The prices of a model at a provider, both named as in the books; null if unknown. */
export type ModelPricing = (provider: string | null, model: string | null) => FoundPrice | null;

const NOTHING: FoundPrice = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, isGuessed: false };

/** The services whose list prices svc knows. */
const MAKERS = ['api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com'];

const isMaker = (address: string): boolean =>
  URL.canParse(address) && MAKERS.includes(new URL(address).hostname);

/** Returns the providers that charge svc's list prices. A client's own login there may be a subscription. */
function listMakers({ providers, passthrough: { anthropic } }: GatewayConfig['ai']): Set<string> {
  const hasKey = anthropic.api_key !== '' || anthropic.api_key_env !== '';
  return new Set([
    ...providers.filter(({ base_url }) => isMaker(base_url)).map(({ name }) => name),
    ...(hasKey && isMaker(anthropic.base_url) ? ['anthropic'] : []),
  ]);
}

const escapeForPattern = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

/** Compiles a name of `ai.prices` to a pattern for `provider/model` and for the model alone. */
function compileName(name: string): RegExp {
  const pattern = name.split('*').map(escapeForPattern).join('.*');
  return new RegExp(`^(?:[^/]*/)?${pattern}$`, 'i');
}

/**
 * Finds prices by the current configuration, for calls of any age: first the person's own prices by model, then
 * nothing for providers of the tiers local and free, then svc's built-in prices by model name.
 */
export function createPricing({ ai }: Pick<GatewayConfig, 'ai'>): ModelPricing {
  const own = Object.entries(ai.prices)
    .sort(([one], [other]) => other.length - one.length)
    .map(([name, { input, output, cache_read, cache_write }]) => ({
      pattern: compileName(name),
      price: {
        ...{ input, output, cacheRead: cache_read ?? input, cacheWrite: cache_write ?? input },
        isGuessed: false,
      },
    }));
  const costless = new Set(
    ai.providers.filter(({ tier }) => tier === 'local' || tier === 'free').map(({ name }) => name),
  );
  // The provider that `ai.ollama` creates.
  if (ai.ollama.host !== '') costless.add('ollama');
  const makers = listMakers(ai);
  return (provider, model) => {
    if (model === null) return null;
    const found = own.find(({ pattern }) => pattern.test(`${provider ?? ''}/${model}`));
    if (found !== undefined) return found.price;
    if (provider !== null && costless.has(provider)) return NOTHING;
    const listed = findKnownModel(model)?.price;
    return listed === undefined ? null : { ...listed, isGuessed: !makers.has(provider ?? '') };
  };
}

/** Factor by which input written to a one-hour cache costs more than other input. */
const HOUR_FACTOR = 2;

/** Returns the cost in US dollars. */
export function costOf(
  row: Pick<UsageCounts, 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_hour'>,
  { input, output, cacheRead, cacheWrite }: ModelPrice,
): number {
  const short = row.cache_write - row.cache_write_hour;
  const written = short * cacheWrite + row.cache_write_hour * input * HOUR_FACTOR;
  return (row.input * input + row.output * output + row.cache_read * cacheRead + written) / 1_000_000;
}

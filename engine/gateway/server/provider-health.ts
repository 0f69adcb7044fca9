/** Failures in a row before it is tried after the others. */
const MOST_FAILURES = 3;
const COOL_MS = 30_000;
const LONGEST_COOL_MS = 5 * 60_000;

/** The state of a provider. */
export interface ProviderHealth {
  failures: number;
  /** Failures in a row without a success in between. */
  coolings: number;
  coolUntil: number;
  lastFailure: { at: number; what: string } | null;
  lastSuccessAt: number | null;
  /** True if it refuses `stream_options`, which requests the usage of a stream. */
  refusesUsageOption: boolean;
  /** The content of its model list; null while unknown. */
  models: readonly ListedModel[] | null;
}

/** A model as its provider lists it. */
export interface ListedModel {
  id: string;
  /** In tokens; null if the provider does not report it. */
  contextWindow: number | null;
  maxOutput: number | null;
}

/** The state of all providers, by name. */
export interface ProviderHealths {
  healthOf(name: string): ProviderHealth;
  recordSuccess(name: string): void;
  recordFault(name: string, what: string, retryAfterMs?: number | null): void;
  /** Forgets all other providers. */
  keepOnly(providers: readonly { name: string }[]): void;
}

export function createProviderHealths(now: () => number): ProviderHealths {
  const health = new Map<string, ProviderHealth>();

  function healthOf(name: string): ProviderHealth {
    const known = health.get(name);
    if (known !== undefined) return known;
    const fresh: ProviderHealth = {
      failures: 0,
      coolings: 0,
      coolUntil: 0,
      lastFailure: null,
      lastSuccessAt: null,
      refusesUsageOption: false,
      models: null,
    };
    health.set(name, fresh);
    return fresh;
  }

  return {
    healthOf,
    recordSuccess(name) {
      const found = healthOf(name);
      found.failures = 0;
      found.coolings = 0;
      found.coolUntil = 0;
      found.lastSuccessAt = now();
    },
    recordFault(name, what, retryAfterMs = null) {
      const found = healthOf(name);
      found.failures += 1;
      found.lastFailure = { at: now(), what };
      if (retryAfterMs !== null)
        found.coolUntil = Math.max(found.coolUntil, now() + Math.min(retryAfterMs, LONGEST_COOL_MS));
      if (found.failures < MOST_FAILURES) return;
      found.failures = 0;
      found.coolUntil = Math.max(
        found.coolUntil,
        now() + Math.min(COOL_MS * 2 ** found.coolings, LONGEST_COOL_MS),
      );
      found.coolings += 1;
    },
    keepOnly(providers) {
      for (const known of health.keys())
        if (!providers.some(({ name }) => name === known)) health.delete(known);
    },
  };
}

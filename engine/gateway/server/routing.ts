import type { Protocol } from '../protocol.ts';
import { type Provider, TIERS, type Tier } from '../settings.ts';

/** How often it may fail in a row before it is tried after the others. */
const MOST_FAILURES = 3;
const COOL_MS = 30_000;
const LONGEST_COOL_MS = 5 * 60_000;

/** How a provider does. */
export interface Health {
  failures: number;
  /** In a row, each of them ended by no success. */
  coolings: number;
  coolUntil: number;
  lastFailure: { at: number; what: string } | null;
  lastSuccessAt: number | null;
  /** What its list of models has; null while it is not known. */
  models: readonly ListedModel[] | null;
}

/** A model as its provider lists it. */
export interface ListedModel {
  id: string;
  /** In tokens; null where the provider does not tell. */
  contextWindow: number | null;
  maxOutput: number | null;
}

/** An upstream that may answer a call, and what it is asked for. */
export interface Candidate {
  provider: Provider;
  model: string;
  /** What is spoken to it. */
  protocol: Protocol;
}

/** Decides who is asked, in which order. */
export interface Routing {
  /** In the order in which they are tried; none when nobody serves the model. */
  findCandidates(protocol: Protocol, asked: string): Candidate[];
  healthOf(name: string): Health;
  recordSuccess(name: string): void;
  /** A fault of the provider: never a wrong request, nor a client that has gone. `retryAfterMs` as it said. */
  recordFault(name: string, what: string, retryAfterMs?: number | null): void;
  setProviders(providers: readonly Provider[]): void;
  providers(): readonly Provider[];
}

const TIER_NAMES = new Map<string, readonly Tier[]>([
  ['auto', TIERS],
  ...TIERS.map((tier, at): [string, readonly Tier[]] => [tier, TIERS.slice(0, at + 1)]),
]);

const byOrder = (one: Provider, other: Provider): number =>
  TIERS.indexOf(one.tier) - TIERS.indexOf(other.tier) || one.priority - other.priority;

export function createRouting(now: () => number): Routing {
  let all: readonly Provider[] = [];
  const health = new Map<string, Health>();

  function healthOf(name: string): Health {
    const known = health.get(name);
    if (known !== undefined) return known;
    const fresh: Health = {
      failures: 0,
      coolings: 0,
      coolUntil: 0,
      lastFailure: null,
      lastSuccessAt: null,
      models: null,
    };
    health.set(name, fresh);
    return fresh;
  }

  const serves = (provider: Provider, model: string): boolean =>
    provider.model === model || healthOf(provider.name).models?.some(({ id }) => id === model) === true;

  /** Whom a name means: a choice by tier, a provider, those that have the model, else those that take any, else all. */
  function choose(asked: string): { provider: Provider; model: string }[] {
    const own = (provider: Provider) => ({ provider, model: provider.model || asked });
    const [, choice] = /^svc(?:\/(.+))?$/.exec(asked) ?? [];
    if (asked === '' || asked === 'svc' || (choice !== undefined && TIER_NAMES.has(choice))) {
      const tiers = TIER_NAMES.get(choice ?? 'auto') ?? TIERS;
      return all.filter(({ tier }) => tiers.includes(tier)).map(own);
    }
    const name = choice ?? asked;
    const named = all.find((each) => name === each.name || name.startsWith(`${each.name}/`));
    if (named !== undefined)
      return [{ provider: named, model: name.slice(named.name.length + 1) || named.model || asked }];
    const serving = all.filter((each) => serves(each, name));
    if (serving.length > 0) return serving.map((provider) => ({ provider, model: name }));
    const open = all.filter(({ model }) => model === '');
    return open.length > 0 ? open.map((provider) => ({ provider, model: name })) : all.map(own);
  }

  return {
    findCandidates(protocol, asked) {
      const found = choose(asked).map(({ provider, model }): Candidate => {
        const spoken = provider.protocols.includes(protocol) ? protocol : (provider.protocols[0] ?? 'chat');
        return { provider, model, protocol: spoken };
      });
      const at = now();
      const isCool = ({ provider }: Candidate): boolean => healthOf(provider.name).coolUntil > at;
      return [...found.filter((each) => !isCool(each)), ...found.filter(isCool)];
    },
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
    setProviders(providers) {
      all = [...providers].sort(byOrder);
      for (const name of health.keys()) if (!all.some((each) => each.name === name)) health.delete(name);
    },
    providers: () => all,
  };
}

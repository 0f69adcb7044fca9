import type { Protocol } from '../protocol.ts';
import { type ModelTier, type Provider, TIERS } from '../settings.ts';
import { createProviderHealths, type ProviderHealth } from './provider-health.ts';

/** An upstream that may answer a call, and the model to request. */
export interface RouteCandidate {
  provider: Provider;
  model: string;
  /** The protocol spoken to it. */
  protocol: Protocol;
}

/** Decides which upstreams are called, in which order. */
export interface ProviderRouting {
  /** Returns in the order of attempts; empty if no provider serves the model. */
  findCandidates(protocol: Protocol, asked: string): RouteCandidate[];
  /** Returns why no provider serves it, with a remedy; a sentence for the caller. */
  explainNobody(asked: string): string;
  /** Returns the provider's model if a request leaves the choice to svc; '' for none. */
  ownModelOf(provider: Provider): string;
  healthOf(name: string): ProviderHealth;
  recordSuccess(name: string): void;
  /** Records a fault of the provider: never a wrong request or a disconnected client. `retryAfterMs` as it reported. */
  recordFault(name: string, what: string, retryAfterMs?: number | null): void;
  setProviders(providers: readonly Provider[]): void;
  providers(): readonly Provider[];
}

const TIER_NAMES = new Map<string, readonly ModelTier[]>([
  ['auto', TIERS],
  ...TIERS.map((tier, at): [string, readonly ModelTier[]] => [tier, TIERS.slice(0, at + 1)]),
]);

/** Returns the part after the slash of a name of svc; '' for `svc` alone, undefined for any other name. */
const readChoice = (asked: string): string | undefined => {
  const [whole, choice = ''] = /^svc(?:\/(.*))?$/s.exec(asked) ?? [];
  return whole === undefined ? undefined : choice;
};

/**
 * Returns the protocol for a provider. OpenAI's chat completions refuse tools with an effort for newer models;
 * responses accept both.
 */
function chooseProtocol({ protocols }: Provider, asked: Protocol): Protocol {
  const other = protocols.includes('responses') ? 'responses' : (protocols[0] ?? 'chat');
  return protocols.includes(asked) ? asked : other;
}

const byOrder = (one: Provider, other: Provider): number =>
  TIERS.indexOf(one.tier) - TIERS.indexOf(other.tier) || one.priority - other.priority;

export function createRouting(now: () => number): ProviderRouting {
  let all: readonly Provider[] = [];
  const health = createProviderHealths(now);
  const { healthOf } = health;

  const serves = (provider: Provider, model: string): boolean =>
    provider.model === model || healthOf(provider.name).models?.some(({ id }) => id === model) === true;

  // With several models in a list, a person has not chosen any.
  const ownModelOf = ({ name, model }: Provider): string => {
    const listed = healthOf(name).models ?? [];
    return model || (listed.length === 1 ? (listed[0]?.id ?? '') : '');
  };

  const readTiers = (asked: string): readonly ModelTier[] | undefined => {
    const choice = readChoice(asked);
    return choice === undefined ? undefined : TIER_NAMES.get(choice || 'auto');
  };

  const findNamed = (name: string): Provider | undefined =>
    all.find((each) => name === each.name || name.startsWith(`${each.name}/`));

  /**
   * Resolves a name: a choice by tier, a provider, the providers with that model, otherwise those that accept any
   * model, otherwise all.
   */
  function choose(asked: string): { provider: Provider; model: string }[] {
    const own = (provider: Provider) => ({ provider, model: ownModelOf(provider) });
    const hasModel = ({ model }: { model: string }): boolean => model !== '';
    // A request without a model leaves it to the called provider.
    if (asked === '') return all.map(own);
    const tiers = readTiers(asked);
    if (tiers !== undefined)
      return all
        .filter(({ tier }) => tiers.includes(tier))
        .map(own)
        .filter(hasModel);
    const choice = readChoice(asked);
    const name = choice ?? asked;
    const named = findNamed(name);
    if (named !== undefined) {
      // A provider never knows a name of svc.
      const other = choice === undefined ? asked : '';
      const model = name.slice(named.name.length + 1) || ownModelOf(named) || other;
      return [{ provider: named, model }].filter(hasModel);
    }
    const serving = all.filter((each) => serves(each, name));
    if (serving.length > 0) return serving.map((provider) => ({ provider, model: name }));
    const open = all.filter(({ model }) => model === '');
    return open.length > 0 ? open.map((provider) => ({ provider, model: name })) : all.map(own);
  }

  function explainNobody(asked: string): string {
    const tiers = readTiers(asked);
    const named = findNamed(readChoice(asked) ?? asked);
    const meant = all.filter((each) => (tiers === undefined ? each === named : tiers.includes(each.tier)));
    const [first] = meant;
    if (first === undefined)
      return `no provider for ${asked}: none has one of the tiers ${(tiers ?? []).join(', ')}`;
    const names = meant.map(({ name }) => name).join(', ');
    return `no model for ${asked}: none is set for ${names}${describeList(first)}; request svc/${first.name}/MODEL, or set a model in svc.yaml`;
  }

  function describeList({ name }: Provider): string {
    const { models } = healthOf(name);
    if (models === null) return ` (${name} has sent no list)`;
    const [first] = models;
    return first === undefined ? '' : ` (${name} lists ${models.length}, such as ${first.id})`;
  }

  return {
    findCandidates(protocol, asked) {
      const found = choose(asked).map(({ provider, model }): RouteCandidate => {
        return { provider, model, protocol: chooseProtocol(provider, protocol) };
      });
      const at = now();
      const isCool = ({ provider }: RouteCandidate): boolean => healthOf(provider.name).coolUntil > at;
      return [...found.filter((each) => !isCool(each)), ...found.filter(isCool)];
    },
    explainNobody,
    ownModelOf,
    healthOf,
    recordSuccess: health.recordSuccess,
    recordFault: health.recordFault,
    setProviders(providers) {
      const before = all;
      all = [...providers].sort(byOrder);
      // At another address it is a different provider.
      health.keepOnly(
        all.filter(({ name, baseUrl }) => baseUrl === before.find((each) => each.name === name)?.baseUrl),
      );
    },
    providers: () => all,
  };
}

import { findKnownModel, type ModelLimits } from '../../core/models/index.ts';
import { type ModelTier, type Provider, TIERS } from '../settings.ts';
import type { ListedModel } from './provider-health.ts';
import type { ProviderRouting } from './routing.ts';

/** Knowledge about the models behind names. */
export interface ModelNames {
  /** Every name of a list: choices, providers' models, and the models that they list. */
  listed: ListedModel[];
  /** The limits of any model for a name that no provider has; null if names are passed on unchanged. */
  other: ModelLimits | null;
}

/** The limits if a request leaves the model to svc. */
interface OwnModel {
  provider: Provider;
  model: ListedModel;
}

/**
 * Finds every requestable name and the limits of its model: from the configuration, then the provider's list, then
 * svc's own data. Null without providers, as with canned answers.
 */
export function listModelNames(
  routing: Pick<ProviderRouting, 'providers' | 'healthOf' | 'ownModelOf'> | null,
): ModelNames {
  const found = new Map<string, ListedModel>();
  const addModel = (model: ListedModel): void => {
    const known = found.get(model.id);
    if (known === undefined || known.contextWindow === null) found.set(model.id, model);
  };
  // In the order in which they are called.
  const providers = routing?.providers() ?? [];
  const own = routing === null ? [] : listOwnModels(routing);
  // The first provider of a choice is known, and so are its limits.
  const first = own[0]?.model ?? (providers.length === 0 ? UNKNOWN : null);
  if (first !== null) for (const id of ['svc', 'svc/auto']) addModel({ ...first, id });
  for (const tier of TIERS)
    if (first !== null && own.some(({ provider }) => provider.tier === tier))
      addModel({ ...first, id: `svc/${tier}` });
  for (const { provider, model } of own) {
    addModel(model);
    addModel({ ...model, id: `svc/${provider.name}` });
  }
  for (const { name } of providers)
    for (const each of routing?.healthOf(name).models ?? []) addModel(addKnownLimits(each));
  const passesNames = providers.length === 0 || providers.some(({ model }) => model === '');
  return {
    listed: [...found.values()],
    other: passesNames
      ? null
      : {
          context: findLeast(own.map(({ model }) => model.contextWindow)),
          output: findLeast(own.map(({ model }) => model.maxOutput)),
        },
  };
}

const UNKNOWN: Omit<ListedModel, 'id'> = { contextWindow: null, maxOutput: null };
const NO_LIMITS: ModelLimits = { context: null, output: null };

/** Returns the limits of a provider's model: from the configuration, then the provider's list, then svc's own data. */
export function findLimits(
  { healthOf }: Pick<ProviderRouting, 'healthOf'>,
  { name, model, limits }: Provider,
  asked: string,
): ModelLimits {
  const listed = healthOf(name).models?.find(({ id }) => id === asked) ?? { ...UNKNOWN, id: asked };
  const { contextWindow, maxOutput } = addKnownLimits(listed);
  const own = model === '' || model === asked ? limits : NO_LIMITS;
  return { context: own.context ?? contextWindow, output: own.output ?? maxOutput };
}

const listOwnModels = ({
  providers,
  healthOf,
  ownModelOf,
}: Pick<ProviderRouting, 'providers' | 'healthOf' | 'ownModelOf'>): OwnModel[] =>
  providers().flatMap((provider) => {
    const id = ownModelOf(provider);
    if (id === '') return [];
    const { context, output } = findLimits({ healthOf }, provider, id);
    return [{ provider, model: { id, contextWindow: context, maxOutput: output } }];
  });

/** Returns the cheapest model of a list by known prices; null for none. */
export function findCheapest(models: readonly ListedModel[], tier: ModelTier): string | null {
  if (tier === 'local' || tier === 'free') return models[0]?.id ?? null;
  const priced = models.flatMap(({ id }) => {
    const price = findKnownModel(id)?.price;
    return price === undefined ? [] : [{ id, dollars: price.input + price.output }];
  });
  return priced.sort((one, other) => one.dollars - other.dollars)[0]?.id ?? null;
}

function addKnownLimits(model: ListedModel): ListedModel {
  if (model.contextWindow !== null && model.maxOutput !== null) return model;
  const limits = findKnownModel(model.id)?.limits;
  if (limits === undefined) return model;
  return {
    ...model,
    contextWindow: model.contextWindow ?? limits.context,
    maxOutput: model.maxOutput ?? limits.output,
  };
}

/** Returns the smallest limit, because any of the candidates may answer. */
function findLeast(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

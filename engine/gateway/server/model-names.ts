import { findKnownModel, type ModelLimits } from '../../core/models/index.ts';
import { type Provider, TIERS, type Tier } from '../settings.ts';
import type { ListedModel, Routing } from './routing.ts';

/** What is known of the models behind names. */
export interface ModelNames {
  /** Every name that a list has: choices, models that providers are asked for, and those of their own lists. */
  listed: ListedModel[];
  /** Of whatever model answers to a name that no provider has; null where names are passed on as they are. */
  other: ModelLimits | null;
}

/** What answers where a request leaves the model to svc. */
interface OwnModel {
  provider: Provider;
  model: ListedModel;
}

/**
 * Finds every name that can be asked for, and the limits of what answers to it: as the configuration says, else as its
 * provider lists it, else as svc knows the model. Null for no providers, as where answers are canned.
 */
export function listModelNames(
  routing: Pick<Routing, 'providers' | 'healthOf' | 'ownModelOf'> | null,
): ModelNames {
  const found = new Map<string, ListedModel>();
  const add = (model: ListedModel): void => {
    const known = found.get(model.id);
    if (known === undefined || known.contextWindow === null) found.set(model.id, model);
  };
  // In the order in which they are asked.
  const providers = routing?.providers() ?? [];
  const own = routing === null ? [] : listOwnModels(routing);
  // Of a choice it is known who answers first, and so how much that takes.
  const first = own[0]?.model ?? (providers.length === 0 ? UNKNOWN : null);
  if (first !== null) for (const id of ['svc', 'svc/auto']) add({ ...first, id });
  for (const tier of TIERS)
    if (first !== null && own.some(({ provider }) => provider.tier === tier))
      add({ ...first, id: `svc/${tier}` });
  for (const { provider, model } of own) {
    add(model);
    add({ ...model, id: `svc/${provider.name}` });
  }
  for (const { name } of providers)
    for (const each of routing?.healthOf(name).models ?? []) add(addKnownLimits(each));
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

/** How much a model of a provider takes and answers: as the configuration says of its model, else as it is listed, else as svc knows it. */
export function findLimits(
  { healthOf }: Pick<Routing, 'healthOf'>,
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
}: Pick<Routing, 'providers' | 'healthOf' | 'ownModelOf'>): OwnModel[] =>
  providers().flatMap((provider) => {
    const id = ownModelOf(provider);
    if (id === '') return [];
    const { context, output } = findLimits({ healthOf }, provider, id);
    return [{ provider, model: { id, contextWindow: context, maxOutput: output } }];
  });

/** The model of a list that costs least, as far as prices are known; null for none. */
export function findCheapest(models: readonly ListedModel[], tier: Tier): string | null {
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

/** Any of them may answer; what fits the smallest fits all. */
function findLeast(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

import { findKnownModel, type ModelLimits } from '../../models/index.ts';
import { type Provider, TIERS } from '../settings.ts';
import type { ListedModel } from './routing.ts';

/** What is known of the models behind names. */
export interface ModelNames {
  /** Every name that a list has: choices, models that providers are asked for, and those of their own lists. */
  listed: ListedModel[];
  /** Of whatever model answers to a name that no provider has; null where names are passed on as they are. */
  other: ModelLimits | null;
}

/**
 * Finds every name that can be asked for, and the limits of what answers to it: as the configuration says, else as its
 * provider lists it, else as svc knows the model. `providers` in the order in which they are asked.
 */
export function listModelNames(
  providers: readonly Provider[],
  modelsOf: (name: string) => readonly ListedModel[] | null,
): ModelNames {
  const found = new Map<string, ListedModel>();
  const add = (model: ListedModel): void => {
    const known = found.get(model.id);
    if (known === undefined || known.contextWindow === null) found.set(model.id, model);
  };
  const own = providers.map(({ name, model, limits }): ListedModel => {
    const listed = addKnownLimits(
      modelsOf(name)?.find(({ id }) => id === model) ?? { id: model, contextWindow: null, maxOutput: null },
    );
    return {
      ...listed,
      contextWindow: limits.context ?? listed.contextWindow,
      maxOutput: limits.output ?? listed.maxOutput,
    };
  });
  // Of a choice it is known who answers first, and so how much that takes.
  const first = own[0] ?? { contextWindow: null, maxOutput: null };
  add({ ...first, id: 'svc' });
  add({ ...first, id: 'svc/auto' });
  for (const tier of TIERS)
    if (providers.some((each) => each.tier === tier)) add({ ...first, id: `svc/${tier}` });
  for (const [at, { name }] of providers.entries()) {
    const each = own[at]!;
    if (each.id === '') continue;
    add(each);
    add({ ...each, id: `svc/${name}` });
  }
  for (const { name } of providers) for (const each of modelsOf(name) ?? []) add(addKnownLimits(each));
  const passesNames = providers.length === 0 || providers.some(({ model }) => model === '');
  return {
    listed: [...found.values()],
    other: passesNames
      ? null
      : {
          context: findLeast(own.map(({ contextWindow }) => contextWindow)),
          output: findLeast(own.map(({ maxOutput }) => maxOutput)),
        },
  };
}

/** The model of a list that costs least, as far as prices are known; null for none. */
export function findCheapest(models: readonly ListedModel[]): string | null {
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

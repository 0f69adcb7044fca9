/** Token limits of a model; null if unknown. */
export interface ModelLimits {
  /** Limit of a request and its answer together. */
  context: number | null;
  /** Limit of one answer. */
  output: number | null;
}

/** The known limits of the models behind names at a gateway. */
export interface RouteModels {
  /** By requested name; only known ones. A list, because names are not keys of ours. */
  named: readonly ({ name: string } & ModelLimits)[];
  /** Limits for any other name; null if the name is passed to the model itself. */
  other: ModelLimits | null;
}

/** The price of a model: US dollars per million tokens. */
export interface ModelPrice {
  /** Input outside the cache. */
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** The known data of a model by its name. */
export interface KnownModel {
  limits: ModelLimits;
  price: ModelPrice;
}

type Row = readonly [
  names: string,
  context: number,
  output: number,
  inputPrice: number,
  outputPrice: number,
  /** Omitted if cache reads are not cheaper. */
  cacheReadPrice?: number,
  /** Omitted if cache writes cost the same as other input. */
  cacheWritePrice?: number,
];

const MILLION = 1_000_000;
const GEMINI = 1_048_576;

/**
 * List prices and limits of the services' own APIs for prompts of usual length: surcharges for very long prompts,
 * batches, regions or priority are not included. Writing to a one-hour cache costs twice the input price, see
 * pricing.ts of the gateway's books.
 *
 * Sources, read in November 2026: platform.claude.com/docs/en/about-claude/pricing and …/models,
 * developers.openai.com/api/docs/models (gpt-5.4 and gpt-5.5 as models.dev had them on 2026-07-02),
 * ai.google.dev/gemini-api/docs/pricing (as models.dev had it on that day).
 */
const ROWS: readonly Row[] = [
  ['claude-fable-5-1 claude-mythos-5-1', MILLION, 128_000, 10, 50, 0.25, 12.5],
  ['claude-fable-5 claude-mythos-5', MILLION, 128_000, 10, 50, 1, 12.5],
  ['claude-opus-5-5', MILLION, 128_000, 4, 20, 0.2, 5],
  ['claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6', MILLION, 128_000, 5, 25, 0.5, 6.25],
  ['claude-opus-4-5', 200_000, 64_000, 5, 25, 0.5, 6.25],
  ['claude-opus-4-1 claude-opus-4-0 claude-opus-4', 200_000, 32_000, 15, 75, 1.5, 18.75],
  ['claude-sonnet-5-5', MILLION, 128_000, 2, 10, 0.1, 2.5],
  ['claude-sonnet-5', MILLION, 128_000, 2, 10, 0.2, 2.5],
  ['claude-sonnet-4-6', MILLION, 64_000, 3, 15, 0.3, 3.75],
  ['claude-sonnet-4-5 claude-sonnet-4-0 claude-sonnet-4', 200_000, 64_000, 3, 15, 0.3, 3.75],
  ['claude-haiku-5-5', MILLION, 128_000, 0.1, 0.5, 0.01, 0.125],
  ['claude-haiku-4-5', 200_000, 64_000, 1, 5, 0.1, 1.25],
  ['gpt-5.5', 1_050_000, 128_000, 5, 30, 0.5],
  ['gpt-5.4', 1_050_000, 128_000, 2.5, 15, 0.25],
  ['gpt-5.4-mini', 400_000, 128_000, 0.75, 4.5, 0.075],
  ['gpt-5.4-nano', 400_000, 128_000, 0.2, 1.25, 0.02],
  ['gpt-5.3-codex gpt-5.2-codex gpt-5.2', 400_000, 128_000, 1.75, 14, 0.175],
  ['gpt-5.1-codex-max gpt-5.1-codex gpt-5.1 gpt-5-codex gpt-5', 400_000, 128_000, 1.25, 10, 0.125],
  ['gpt-5.1-codex-mini gpt-5-mini', 400_000, 128_000, 0.25, 2, 0.025],
  ['gpt-5-nano', 400_000, 128_000, 0.05, 0.4, 0.005],
  ['gpt-4.1', 1_047_576, 32_768, 2, 8, 0.5],
  ['gpt-4.1-mini', 1_047_576, 32_768, 0.4, 1.6, 0.1],
  ['gpt-4.1-nano', 1_047_576, 32_768, 0.1, 0.4, 0.025],
  ['gpt-4o', 128_000, 16_384, 2.5, 10, 1.25],
  ['gpt-4o-mini', 128_000, 16_384, 0.15, 0.6, 0.075],
  ['o3', 200_000, 100_000, 2, 8, 0.5],
  ['o4-mini', 200_000, 100_000, 1.1, 4.4, 0.275],
  ['gemini-3.5-flash', GEMINI, 65_536, 1.5, 9, 0.15],
  ['gemini-3.1-pro gemini-3-pro', GEMINI, 65_536, 2, 12, 0.2],
  ['gemini-3.1-flash-lite', GEMINI, 65_536, 0.25, 1.5, 0.025],
  ['gemini-3-flash', GEMINI, 65_536, 0.5, 3, 0.05],
  ['gemini-2.5-pro', GEMINI, 65_536, 1.25, 10, 0.125],
  ['gemini-2.5-flash', GEMINI, 65_536, 0.3, 2.5, 0.03],
  ['gemini-2.5-flash-lite', GEMINI, 65_536, 0.1, 0.4, 0.01],
];

/** Removes the maker and uses hyphens only: resellers write `anthropic/claude-opus-4.5` for `claude-opus-4-5`. */
const normalizeName = (name: string): string =>
  name
    .toLowerCase()
    .slice(name.lastIndexOf('/') + 1)
    .replaceAll('.', '-');

/** A release date or release label, which changes neither limits nor price. */
const ISSUE = /-(?:\d{8}|\d{4}-\d\d-\d\d|latest|preview(?:-\d\d-\d\d(?:\d\d)?)?|customtools)$/;

const KNOWN: ReadonlyMap<string, KnownModel> = new Map(
  ROWS.flatMap(([names, context, output, inputPrice, outputPrice, cacheRead, cacheWrite]) => {
    const known: KnownModel = {
      limits: { context, output },
      price: {
        input: inputPrice,
        output: outputPrice,
        cacheRead: cacheRead ?? inputPrice,
        cacheWrite: cacheWrite ?? inputPrice,
      },
    };
    return names.split(' ').map((name): [string, KnownModel] => [normalizeName(name), known]);
  }),
);

/**
 * Finds the data of a model by name, ignoring maker and release date; null for others. A name with a `:` is custom
 * (`qwen3:8b`, `…:free`) and unknown.
 */
export function findKnownModel(name: string): KnownModel | null {
  let plain = normalizeName(name);
  for (;;) {
    const found = KNOWN.get(plain);
    if (found !== undefined) return found;
    const shorter = plain.replace(ISSUE, '');
    if (shorter === plain) return null;
    plain = shorter;
  }
}

const UNKNOWN: ModelLimits = { context: null, output: null };

/**
 * Finds the limits of the model behind a name. A null name is a model that an agent chose itself and knows better
 * than a route does, unless another model answers.
 */
export function findRouteLimits(
  { named, other }: RouteModels = { named: [], other: null },
  name: string | null = null,
): ModelLimits {
  if (name === null) return other ?? UNKNOWN;
  const { context, output } =
    named.find((each) => each.name === name) ?? other ?? findKnownModel(name)?.limits ?? UNKNOWN;
  return { context, output };
}

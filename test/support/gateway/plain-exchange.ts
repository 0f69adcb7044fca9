/** Exchanges with a model, independent of any protocol, and random ones from a seed. */

export interface PlainCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface PlainImage {
  mediaType: string;
  data: string;
}

export interface PlainResult {
  id: string;
  name: string;
  text: string;
  isError: boolean;
}

export type PlainTurn =
  | { role: 'user'; text: string; images: PlainImage[] }
  | { role: 'assistant'; text: string; calls: PlainCall[] }
  | { role: 'results'; results: PlainResult[] };

export interface PlainTool {
  name: string;
  description: string;
  schema: Record<string, unknown>;
}

export interface PlainRequest {
  system: string;
  turns: PlainTurn[];
  tools: PlainTool[];
  maxTokens: number;
}

export interface PlainUsage {
  input: number;
  cacheRead: number;
  output: number;
  reasoning: number;
}

export interface PlainAnswer {
  thinking: string;
  text: string;
  calls: PlainCall[];
  isCut: boolean;
  usage: PlainUsage;
}

/** Returns a generator of numbers in [0, 1) that depends only on the seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Dice {
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
  text(most: number): string;
}

// Quotes, line ends, escapes, surrogate pairs, joined emoji, and text that looks like protocol syntax.
const WORDS = [
  'sum',
  'of',
  'größe',
  '日本語',
  '😀',
  '👩‍👩‍👧',
  '"quoted"',
  '\\n',
  '\n',
  '\t',
  '[DONE]',
  'data: {}',
  '{"a":1}',
  ' ',
  '\u2028',
];

export function createDice(seed: number): Dice {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const text = (most: number): string =>
    `w${Array.from({ length: below(most) }, () => pick(WORDS)).join('')}.`;
  return { below, pick, text };
}

const NAMES = ['read_file', 'shell', 'list', 'mcp__files__search'];

export const PLAIN_TOOLS: readonly PlainTool[] = NAMES.map((name) => ({
  name,
  description: `runs ${name}`,
  schema: { type: 'object', properties: { path: { type: 'string' } } },
}));

function randomArgs(dice: Dice): Record<string, unknown> {
  const kinds: (() => Record<string, unknown>)[] = [
    () => ({}),
    () => ({ path: dice.text(4) }),
    () => ({ deep: { list: [1, null, true, dice.text(3)], empty: {} }, n: -1.5e10 }),
  ];
  return dice.pick(kinds)();
}

const randomCalls = (dice: Dice, prefix: string): PlainCall[] =>
  Array.from({ length: dice.below(4) }, (_, index) => ({
    id: `${prefix}_${index}`,
    name: dice.pick(NAMES),
    args: randomArgs(dice),
  }));

const randomImages = (dice: Dice): PlainImage[] =>
  Array.from({ length: dice.below(2) }, () => ({ mediaType: 'image/png', data: 'aGVsbG8=' }));

/** Creates a conversation that a real client could have: the results of calls follow the calls. */
export function randomRequest(seed: number): PlainRequest {
  const dice = createDice(seed);
  const turns: PlainTurn[] = [{ role: 'user', text: dice.text(6), images: randomImages(dice) }];
  for (let round = dice.below(5); round > 0; round -= 1) {
    const calls = randomCalls(dice, `call_${round}`);
    turns.push({
      role: 'assistant',
      text: calls.length > 0 && dice.below(2) === 0 ? '' : dice.text(6),
      calls,
    });
    if (calls.length > 0)
      turns.push({
        role: 'results',
        results: calls.map(({ id, name }) => ({
          id,
          name,
          text: dice.text(5),
          isError: dice.below(4) === 0,
        })),
      });
    if (calls.length === 0 || dice.below(2) === 0)
      turns.push({ role: 'user', text: dice.text(6), images: [] });
  }
  return {
    system: dice.below(3) === 0 ? '' : dice.text(8),
    turns,
    tools: [...PLAIN_TOOLS],
    maxTokens: 1000 + seed,
  };
}

export function randomAnswer(seed: number): PlainAnswer {
  const dice = createDice(seed);
  const calls = randomCalls(dice, `call_${seed}`);
  const reasoning = dice.below(3) * 10;
  return {
    thinking: dice.below(2) === 0 ? '' : dice.text(10),
    text: calls.length > 0 && dice.below(2) === 0 ? '' : dice.text(20),
    calls,
    isCut: calls.length === 0 && dice.below(4) === 0,
    usage: {
      input: 100 + dice.below(900),
      cacheRead: dice.below(100),
      output: 50 + dice.below(100),
      reasoning,
    },
  };
}

/** Splits the text into pieces of random length. A cut may split a surrogate pair, which JSON then escapes. */
export function cutText(text: string, dice: Dice, longest = 6): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const next = at + 1 + dice.below(longest);
    pieces.push(text.slice(at, next));
    at = next;
  }
  return pieces;
}

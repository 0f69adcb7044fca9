// The elements of a text, for the comparison.

export const NAME = 1;
export const KEYWORD = 2;
export const NUMBER = 3;
export const STRING = 4;
export const MARK = 5;

/** The tokens of a text, without comments, imports and semicolons. All arrays have one entry per token. */
export interface CodeTokens {
  count: number;
  kinds: Uint8Array;
  /** Hashes of their texts; of strings without quotes. */
  texts: Uint32Array;
  /** Hashes that are equal for all names, all numbers and all strings. */
  shapes: Uint32Array;
  /** Their start and end in the text. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** From 1. */
  lines: Uint32Array;
  /** Start and end of comments in the text, alternating. */
  comments: readonly number[];
  /** The line of a literal whose end was not found, so that what follows it may be misread; null for none. */
  lostAt: number | null;
}

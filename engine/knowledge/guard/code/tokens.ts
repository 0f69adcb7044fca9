// What a text is made of, for the comparison.

export const NAME = 1;
export const KEYWORD = 2;
export const NUMBER = 3;
export const STRING = 4;
export const MARK = 5;

/** The tokens of a text, without comments, imports and semicolons. All arrays have one entry for each. */
export interface Tokens {
  count: number;
  kinds: Uint8Array;
  /** Hashes of their texts; of strings without their quotes. */
  texts: Uint32Array;
  /** Hashes that are alike for all names, all numbers and all strings. */
  shapes: Uint32Array;
  /** Where they begin and end in the text. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** From 1. */
  lines: Uint32Array;
  /** Where comments begin and end in the text, in turn. */
  comments: readonly number[];
}

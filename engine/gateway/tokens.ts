/** Tokens of one call, as its upstream counted them. `input` excludes tokens read from or written to a prompt cache. */
export interface TokenUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour, which costs more. */
  cacheWriteHour: number;
}

export const NO_USAGE: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 };

/** Approximate bytes of JSON per token: for reservations, and if an upstream reports no numbers. */
const BYTES_PER_TOKEN = 4;

export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** Returns all tokens of a row of the books, or of a sum of rows. */
export const sumRowTokens = (row: {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}): number => row.input + row.output + row.cache_read + row.cache_write;

/** Returns a count from the wire: anything but a valid number of tokens is 0. */
export const readCount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

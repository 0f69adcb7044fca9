/** Tokens of one call, as its upstream counted them. What was read from or written to a prompt cache is not in `input`. */
export interface TokenUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Of `cacheWrite`, what is kept for an hour, which costs more. */
  cacheWriteHour: number;
}

export const NO_USAGE: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 };

/** Bytes of JSON that one token takes, roughly: for reservations, and where an upstream tells no numbers. */
const BYTES_PER_TOKEN = 4;

export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** All tokens of a row of the books, or of a sum of rows. */
export const sumRowTokens = (row: {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}): number => row.input + row.output + row.cache_read + row.cache_write;

/** A count from the wire: anything but a number of tokens counts as none. */
export const readCount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

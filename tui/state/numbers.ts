export const clampNumber = (value: number, low: number, high: number): number =>
  Math.max(low, Math.min(value, high));

/** Moves an index by `by`, wrapping around at both ends. 0 if there is nothing to choose from. */
export const rotateIndex = (at: number, by: number, count: number): number =>
  count === 0 ? 0 : (at + by + count) % count;

/** The number in an id: 12 for `t-12`. Later ids have higher numbers. */
export const parseIdNumber = (id: string): number => Number(id.slice(2));

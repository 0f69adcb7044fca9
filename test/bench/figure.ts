/** A measured figure and a reference of the same run, because absolute times differ between machines. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The same measure of the reference; null if there is none. */
  reference: number | null;
  ratio: number | null;
}

/** Thrown by a bench that needs a program which this machine lacks. */
export class CannotRun extends Error {}

export const figure = (
  name: string,
  value: number,
  unit: string,
  reference: number | null = null,
): Figure => ({
  name,
  value: round(value),
  unit,
  reference: reference === null ? null : round(reference),
  ratio: reference === null || reference === 0 ? null : round(value / reference),
});

const round = (number: number): number => Number(number.toPrecision(4));

/** Returns the value below which the share `p` (0 to 1) of the samples is. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

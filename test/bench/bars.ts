import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

/** The record of a figure. */
export interface Mark {
  /** The limit: a number for the ratio, text with the unit for the value; null if there is none. */
  bar: number | string | null;
  better: 'lower' | 'higher';
  /** The ratio when it was last recorded, or the value of a figure without a reference. */
  last: number | null;
}

/** The marks of one bench, with the machine and commit of its last recording. */
export interface BenchMarks {
  machine: string;
  commit: string;
  figures: Record<string, Mark>;
}

/** All of bars.json: the marks of each bench. */
export type Bars = Record<string, BenchMarks>;

export type Verdict = 'better' | 'same' | 'worse' | 'new' | 'not measured';

export interface Comparison {
  name: string;
  verdict: Verdict;
  /** The figure in words: now, recorded, and its bar. */
  text: string;
}

/** Compiled files are in dist/, the marks with the source. */
const FILE = fileURLToPath(new URL('../../../test/bench/bars.json', import.meta.url));

export const readBars = (): Bars => JSON.parse(readFileSync(FILE, 'utf8')) as Bars;

export function writeBars(bars: Bars): void {
  writeFileSync(FILE, `${JSON.stringify(bars, null, 2)}\n`);
}

/** Units of what is counted, which does not depend on the load of the machine. */
const COUNTED = /^(?:%|share|facts|writes|bytes|KB|rows|folders)$/;
/** Units of which more is better, for figures that have no mark yet. */
const MORE_IS_BETTER = /^(?:%|share|facts|writes|requests\/s|messages\/s|lines\/s)$/;
const TAIL = /\bp9[59]\b/;
/** Less than this, such as a tenth of a millisecond, counts as this much. */
const SMALLEST = 0.1;

/**
 * Returns the factor within which a figure counts as the same. Runs of one commit on a machine with other work differed
 * by up to a fifth in the medians of ratios, and by up to two fifths in tails and in times without a reference.
 */
export const noiseOf = ({ name, unit, ratio }: Figure): number =>
  COUNTED.test(unit) ? 1.02 : ratio === null || TAIL.test(name) ? 1.5 : 1.25;

const now = ({ value, ratio }: Figure): number => ratio ?? value;
const inWords = (number: number, { ratio, unit }: Figure): string =>
  ratio === null ? `${number} ${unit}` : `${number}x`;

/** Compares the figures of a bench with their marks; marks of figures that were not measured come last. */
export function compareWithMarks(figures: readonly Figure[], marks: BenchMarks | undefined): Comparison[] {
  const known = marks?.figures ?? {};
  const compared = figures.map((figure): Comparison => {
    const mark = known[figure.name];
    const parts = [inWords(now(figure), figure)];
    if (typeof mark?.last === 'number') parts.push(`recorded ${inWords(mark.last, figure)}`);
    if (mark !== undefined && mark.bar !== null) parts.push(describeBar(figure, mark, mark.bar));
    return { name: figure.name, verdict: judge(figure, mark), text: parts.join(', ') };
  });
  const measured = new Set(figures.map(({ name }) => name));
  const missing = Object.keys(known).filter((name) => !measured.has(name));
  return [...compared, ...missing.map((name): Comparison => ({ name, verdict: 'not measured', text: '' }))];
}

function judge(figure: Figure, mark: Mark | undefined): Verdict {
  if (mark === undefined || mark.last === null) return 'new';
  const [most, least] = [Math.max(now(figure), mark.last), Math.min(now(figure), mark.last)];
  const floor = figure.ratio === null && !COUNTED.test(figure.unit) ? SMALLEST : 0;
  if (most <= Math.max(least, floor) * noiseOf(figure)) return 'same';
  return now(figure) < mark.last === (mark.better === 'lower') ? 'better' : 'worse';
}

function describeBar(figure: Figure, { better }: Mark, bar: number | string): string {
  const limit = Number.parseFloat(String(bar));
  const measured = typeof bar === 'number' ? (figure.ratio ?? figure.value) : figure.value;
  const isMet = better === 'lower' ? measured <= limit : measured >= limit;
  return `bar ${typeof bar === 'number' ? `${bar}x` : bar} ${isMet ? 'met' : 'missed'}`;
}

/** Returns the marks with new last values; bars stay, and figures that were not measured keep their last value. */
export function recordMarks(
  figures: readonly Figure[],
  marks: BenchMarks | undefined,
  place: Pick<BenchMarks, 'machine' | 'commit'>,
): BenchMarks {
  const recorded = { ...marks?.figures };
  for (const figure of figures) {
    const better = MORE_IS_BETTER.test(figure.unit) ? 'higher' : 'lower';
    recorded[figure.name] = { bar: null, better, ...recorded[figure.name], last: now(figure) };
  }
  return { ...place, figures: recorded };
}

/** Describes this machine and the commit of the checkout. */
export const describePlace = (): Pick<BenchMarks, 'machine' | 'commit'> => ({
  machine: `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, node ${process.versions.node}`,
  commit: execFileSync('git', ['describe', '--always', '--dirty'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  }).trim(),
});

import type { CleanedLines } from './lines.ts';

/** Lines of one kind that say the same: all but one of them can be left out. */
export interface NoiseClass {
  /** What they are, in the plural, as the marker says it. */
  what: string;
  /** Tells them by the line without its prefix; anchored, so that what is unusual in a line keeps it. */
  pattern: RegExp;
  /** Which of them stays: the first as an example, none, or of each run its first, or its last as its final state. */
  keep?: 'first' | 'none' | 'first-of-run' | 'last-of-run';
}

/** One family of programs whose output is known: data, and a function where lines need their neighbours. */
export interface Recogniser {
  kind: string;
  /** Found in the output of these programs only; it is tried on the whole text, with flag `m`. */
  evidence: RegExp;
  classes: readonly NoiseClass[];
  /** Marks what a single line cannot tell. */
  mark?(text: CleanedLines, marks: Marks): void;
  /** Marks what is left when repeats have been folded, since its lines are parts of what repeats. */
  isLate?: boolean;
}

/** Which class each line belongs to; null for those that stay. */
export type Marks = (NoiseClass | null)[];

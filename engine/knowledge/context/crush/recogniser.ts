import type { CleanedLines } from './lines.ts';

/** Equivalent lines of one kind: all but one can be omitted. */
export interface NoiseClass {
  /** Their type in the plural, for the marker. */
  what: string;
  /** Matches the line without its prefix; anchored, so that any unusual part keeps the line. */
  pattern: RegExp;
  /** The kept line: the first as an example, none, or of each run its first, or its last as the final state. */
  keep?: 'first' | 'none' | 'first-of-run' | 'last-of-run';
  /** The words of the marker about the omitted lines, such as their names. */
  values?: string;
}

/** A family of programs with known output: data, and a function if lines depend on their neighbours. */
export interface OutputRecogniser {
  kind: string;
  /** Detects the output of these programs only; tried on the whole text, with flag `m`. */
  evidence: RegExp;
  classes: readonly NoiseClass[];
  /** Marks lines that cannot be classified on their own. */
  mark?(text: CleanedLines, marks: OutputMarks): void;
  /** True if it has the form of a document, which would otherwise be content. */
  isDocument?: boolean;
  /** Marks the rest after repeats were folded, since its lines are parts of repeats. */
  isLate?: boolean;
}

/** The class of each line; null for kept lines. */
export type OutputMarks = (NoiseClass | null)[];

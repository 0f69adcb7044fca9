import { withLocalTimes } from '../../engine/index.ts';
import { clean, width, wrap } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';

/** Lines of a text from outside, wrapped, behind a bar that shows where it begins and ends. */
export const quoted = (text: readonly string[], cells: number): Line[] =>
  text.flatMap((line) => wrap(line, cells - 2).map((part) => [span('│ ', 'border'), span(part)]));

export const heading = (text: string): Line => [span(text, 'dim')];

export const problemLines = (problem: { message: string; hint?: string | null }, cells: number): Line[] =>
  [problem.message, ...(problem.hint == null ? [] : [`next: ${problem.hint}`])].flatMap((text, index) =>
    wrap(clean(withLocalTimes(text)), cells).map((part) => [span(part, index === 0 ? 'bad' : undefined)]),
  );

/** Two texts at the ends of a line. */
export const ends = (left: string, right: string, cells: number): string =>
  left + ' '.repeat(Math.max(1, cells - width(left) - width(right))) + right;

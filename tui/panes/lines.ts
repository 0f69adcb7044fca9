import { localizeTimes } from '../../engine/core/base/text.ts';
import { measureCells } from '../text/cells.ts';
import { cleanText, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** Renders text from outside, wrapped behind a bar that shows where it starts and ends. */
export const renderQuote = (text: readonly string[], cells: number): StyledLine[] =>
  text.flatMap((line) => wrapText(line, cells - 2).map((part) => [span('│ ', 'border'), span(part)]));

export const renderHeading = (text: string): StyledLine => [span(text, 'dim')];

export const renderProblem = (
  problem: { message: string; hint?: string | null },
  cells: number,
): StyledLine[] =>
  [problem.message, ...(problem.hint == null ? [] : [`next: ${problem.hint}`])].flatMap((text, index) =>
    wrapText(cleanText(localizeTimes(text)), cells).map((part) => [
      span(part, index === 0 ? 'bad' : undefined),
    ]),
  );

/** Puts one text at each end of a line. */
export const alignEnds = (left: string, right: string, cells: number): string =>
  left + ' '.repeat(Math.max(1, cells - measureCells(left) - measureCells(right))) + right;

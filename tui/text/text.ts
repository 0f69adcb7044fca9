import { cutToWidth as cutTo, toPrintable } from '../../engine/core/base/text.ts';
import { measureCells, replaceUnsureCharacters } from './cells.ts';
import { isNarrow } from './narrow.ts';
import { createSegmenter } from './segmenter.ts';
import { type StyledLine, type StyledSpan, span, type TextStyle } from './theme.ts';

const TAB = 4;
const segmenter = createSegmenter();

/** Splits a text into what a reader sees as characters. */
export const splitGraphemes = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment);

/** Cuts a text to at most `cells`, with an ellipsis if something is left out. */
export const truncateText = (text: string, cells: number): string => {
  if (cells <= 0) return '';
  if (isNarrow(text)) return text.length <= cells ? text : `${text.slice(0, cells - 1)}…`;
  return cutTo(text, cells, measureCells);
};

/** Cuts the start of a text, with an ellipsis, where its end says more, as in a path. */
export function truncateStart(text: string, cells: number): string {
  if (measureCells(text) <= cells) return text;
  const kept: string[] = [];
  let room = cells - 1;
  for (const each of splitGraphemes(text).reverse()) {
    room -= measureCells(each);
    if (room < 0) break;
    kept.unshift(each);
  }
  return `…${kept.join('')}`;
}

/** Cuts or pads a text to exactly `cells`. */
export function padText(text: string, cells: number, align: 'left' | 'right' = 'left'): string {
  const shown = truncateText(text, cells);
  const blank = ' '.repeat(Math.max(0, cells - measureCells(shown)));
  return align === 'right' ? blank + shown : shown + blank;
}

/** Cleans one line of text from outside: nothing in it can move the cursor, and tabs have a fixed width. */
export const cleanText = (text: string): string =>
  isNarrow(text) ? text : toPrintable(text.replaceAll('\t', ' '.repeat(TAB)));

/** Cleans text that has something next to it, so that every terminal draws it with the same width. */
export const makeDrawable = (text: string): string =>
  isNarrow(text) ? text : replaceUnsureCharacters(cleanText(text));

export const makeLineDrawable = (line: StyledLine): StyledLine =>
  line.map((each) => ({ ...each, text: makeDrawable(each.text) }));

/** Splits text from outside into clean lines. */
export const splitCleanLines = (text: string): string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => cleanText(line));

/** Wraps a line, at spaces if possible. An empty line stays one line. */
export function wrapText(text: string, cells: number): string[] {
  if (cells < 1) return [];
  const indent = /^ */.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  let rest = text;
  while (measureCells(rest) > cells) {
    const head = takeStart(rest, cells);
    const space = head.trimStart() === '' ? -1 : head.lastIndexOf(' ');
    const at = rest[head.length] === ' ' ? head.length : space > indent.length ? space : head.length;
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

/** Returns the longest start of a text that fits, but at least one character of any width. */
function takeStart(text: string, cells: number): string {
  if (isNarrow(text)) return text.slice(0, cells);
  let head = '';
  for (const segment of splitGraphemes(text)) {
    if (head !== '' && measureCells(head + segment) > cells) break;
    head += segment;
  }
  return head;
}

/** Cuts a line to `cells`, after skipping the `left` cells that are scrolled away. */
export function fitLine(line: StyledLine, cells: number, left = 0): StyledLine {
  const shown: StyledSpan[] = [];
  let skip = left;
  let room = cells;
  for (const each of line) {
    let { text } = each;
    if (skip > 0) {
      const head = takeStart(text, skip);
      if (measureCells(text) <= skip) {
        skip -= measureCells(text);
        continue;
      }
      text = text.slice(head.length);
      skip = 0;
    }
    if (room <= 0) break;
    const part = truncateText(text, room);
    shown.push({ ...each, text: part });
    room -= measureCells(part);
    if (part !== text) break;
  }
  return shown;
}

/** Skips the cells of a line that are scrolled away. */
export const skipCells = (line: StyledLine, left: number): StyledLine =>
  left === 0 ? line : fitLine(line, Number.POSITIVE_INFINITY, left);

/** Marks every occurrence of `query` in a line, ignoring case. */
export function markHits(line: StyledLine, query: string): StyledLine {
  const wanted = query.toLowerCase();
  return line.flatMap(({ text, style }) => {
    const lower = text.toLowerCase();
    // A few letters change their length in lower case. No mark is better than a wrong one.
    if (wanted === '' || lower.length !== text.length || !lower.includes(wanted)) return [span(text, style)];
    const parts: StyledSpan[] = [];
    let from = 0;
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
      parts.push(span(text.slice(from, at), style), span(text.slice(at, at + wanted.length), 'hit'));
      from = at + wanted.length;
    }
    return [...parts, span(text.slice(from), style)].filter((each) => each.text !== '');
  });
}

/** Renders lines of `name  value`, with long values wrapped and indented. Facts without a value are left out. */
export function renderFacts(
  facts: readonly (readonly [
    name: string,
    value: string | null | undefined,
    style?: TextStyle | undefined,
  ])[],
  cells: number,
): StyledLine[] {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const nameWidth = Math.max(0, ...shown.map(([name]) => name.length)) + 1;
  return shown.flatMap(([name, value, style]) =>
    wrapText(cleanText(value ?? ''), Math.max(8, cells - nameWidth)).map((text, index) => [
      span(padText(index === 0 ? name : '', nameWidth), 'dim'),
      span(text, style),
    ]),
  );
}

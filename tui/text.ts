import { cutToWidth as cutTo, toPrintable } from '../engine/index.ts';
import { replaceUnsure, mostCells as width } from './cells.ts';
import { type Line, type Span, type Style, span } from './theme.ts';

export { width };

const ASCII = /^[\u0020-\u007e]*$/;
const TAB = 4;

/** What a reader sees as the characters of a text. */
export const graphemes = (text: string): string[] =>
  ASCII.test(text) ? [...text] : Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

/** At most `cells` wide, with an ellipsis where something is left out. */
export const cut = (text: string, cells: number): string => {
  if (cells <= 0) return '';
  if (ASCII.test(text)) return text.length <= cells ? text : `${text.slice(0, cells - 1)}…`;
  return cutTo(text, cells, width);
};

/** Exactly `cells` wide. */
export function fill(text: string, cells: number, align: 'left' | 'right' = 'left'): string {
  const shown = cut(text, cells);
  const blank = ' '.repeat(Math.max(0, cells - width(shown)));
  return align === 'right' ? blank + shown : shown + blank;
}

/** One line of text from outside, whole: nothing in it can move the cursor, and tabs have a width. */
export const clean = (text: string): string =>
  ASCII.test(text) ? text : toPrintable(text.replaceAll('\t', ' '.repeat(TAB)));

/** The same for where other things stand beside it: every terminal draws it in as many cells. */
export const drawable = (text: string): string => (ASCII.test(text) ? text : replaceUnsure(clean(text)));

export const drawableLine = (line: Line): Line =>
  line.map((each) => ({ ...each, text: drawable(each.text) }));

/** Lines of a text from outside. */
export const cleanLines = (text: string): string[] =>
  text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => clean(line));

/** A line broken at spaces where possible; an empty line stays one line. */
export function wrap(text: string, cells: number): string[] {
  if (cells < 1) return [];
  const indent = /^ */.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  let rest = text;
  while (width(rest) > cells) {
    const head = headOf(rest, cells);
    const space = head.trimStart() === '' ? -1 : head.lastIndexOf(' ');
    const at = rest[head.length] === ' ' ? head.length : space > indent.length ? space : head.length;
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return [...lines, rest];
}

/** The longest start of a text that fits; at least one character, however wide. */
function headOf(text: string, cells: number): string {
  if (ASCII.test(text)) return text.slice(0, cells);
  let head = '';
  for (const segment of graphemes(text)) {
    if (head !== '' && width(head + segment) > cells) break;
    head += segment;
  }
  return head;
}

/** A line of at most `cells`, cut where it does not fit. `left` cells are scrolled away. */
export function fitLine(line: Line, cells: number, left = 0): Line {
  const shown: Span[] = [];
  let skip = left;
  let room = cells;
  for (const each of line) {
    let { text } = each;
    if (skip > 0) {
      const head = headOf(text, skip);
      if (width(text) <= skip) {
        skip -= width(text);
        continue;
      }
      text = text.slice(head.length);
      skip = 0;
    }
    if (room <= 0) break;
    const part = cut(text, room);
    shown.push({ ...each, text: part });
    room -= width(part);
    if (part !== text) break;
  }
  return shown;
}

/** A line with every occurrence of `query` marked; case does not matter. */
export function markHits(line: Line, query: string): Line {
  const wanted = query.toLowerCase();
  return line.flatMap(({ text, style }) => {
    const lower = text.toLowerCase();
    // A few letters change their length in lower case; such a text keeps its look rather than marking the wrong place.
    if (wanted === '' || lower.length !== text.length || !lower.includes(wanted)) return [span(text, style)];
    const parts: Span[] = [];
    let from = 0;
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
      parts.push(span(text.slice(from, at), style), span(text.slice(at, at + wanted.length), 'hit'));
      from = at + wanted.length;
    }
    return [...parts, span(text.slice(from), style)].filter((each) => each.text !== '');
  });
}

/** `name  value` lines, the value wrapped and indented below itself. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | null | undefined, style?: Style | undefined])[],
  cells: number,
): Line[] {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const nameWidth = Math.max(0, ...shown.map(([name]) => name.length)) + 1;
  return shown.flatMap(([name, value, style]) =>
    wrap(clean(value ?? ''), Math.max(8, cells - nameWidth)).map((text, index) => [
      span(fill(index === 0 ? name : '', nameWidth), 'dim'),
      span(text, style),
    ]),
  );
}

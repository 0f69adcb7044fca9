/** A part of a text that is a search result. */
export interface TextChunk {
  text: string;
  /** From 1; a long line may be in several chunks. */
  firstLine: number;
  lastLine: number;
  /** Its position in the text, in UTF-8 bytes. */
  begins: number;
  ends: number;
}

/** Maximum characters and lines. */
const LONGEST_CHUNK = 1200;
const MOST_LINES = 20;

/** Splits a text into chunks of whole lines; together they are the text. A line longer than a chunk is split too. */
export function* cutChunks(text: string): Generator<TextChunk> {
  let from = 0;
  let line = 1;
  let begins = 0;
  while (from < text.length) {
    const to = findEnd(text, from);
    const part = text.slice(from, to);
    const breaks = countBreaks(part);
    const ends = begins + Buffer.byteLength(part);
    yield {
      text: part,
      firstLine: line,
      lastLine: line + breaks - (part.endsWith('\n') ? 1 : 0),
      begins,
      ends,
    };
    line += breaks;
    begins = ends;
    from = to;
  }
}

function findEnd(text: string, from: number): number {
  let end = from;
  for (let lines = 0; lines < MOST_LINES; lines += 1) {
    const at = text.indexOf('\n', end);
    const next = at < 0 ? text.length : at + 1;
    if (next - from > LONGEST_CHUNK) break;
    end = next;
    if (end === text.length) break;
  }
  if (end > from) return end;
  const cut = from + LONGEST_CHUNK;
  // Not inside a surrogate pair.
  return /[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? cut - 1 : cut;
}

function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Splits lines like an editor: a final line break starts no new line. */
export const countLines = (text: string): number =>
  text === '' ? 0 : countBreaks(text) + (text.endsWith('\n') ? 0 : 1);

/** Returns those lines with their line breaks, from 1. */
export function takeLines(text: string, first: number, last: number): string {
  let begin = 0;
  for (let line = 1; line < first; line += 1) {
    begin = text.indexOf('\n', begin) + 1;
    if (begin === 0) return '';
  }
  let end = begin;
  for (let line = first; line <= last && end < text.length; line += 1) {
    const at = text.indexOf('\n', end);
    end = at < 0 ? text.length : at + 1;
  }
  return text.slice(begin, end);
}

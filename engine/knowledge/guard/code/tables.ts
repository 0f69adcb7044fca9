import { hashText } from './hash.ts';
import { type CodeTokens, KEYWORD, MARK, NAME, NUMBER, STRING } from './tokens.ts';

// Data and field lists look alike everywhere, and cannot be replaced by a call.

/** A run of this many tokens without a call, an operator or a statement is data. */
const SHORTEST_TABLE = 30;

const DATA_MARKS = new Set([...',:[]{}.-|?'].map((mark) => mark.charCodeAt(0)));
const EQUALS = 61;
const DATA_WORDS = new Set(
  [
    'true',
    'false',
    'null',
    'nil',
    'None',
    'True',
    'False',
    'undefined',
    'NULL',
    'readonly',
    'void',
    'const',
  ].map((word) => hashText(word, 0, word.length)),
);

/** Removes runs of data: lists, dictionaries, constants, the fields of a type. */
export function dropTables<T extends CodeTokens>(tokens: T): T {
  const { count, kinds, texts, starts, ends, lines, shapes } = tokens;
  let kept = 0;
  for (let at = 0; at < count; ) {
    let end = at;
    while (end < count && isData(tokens, end)) end += 1;
    if (end - at >= SHORTEST_TABLE) {
      at = end;
      continue;
    }
    for (const to = Math.max(end, at + 1); at < to; at += 1, kept += 1) {
      kinds[kept] = kinds[at] as number;
      texts[kept] = texts[at] as number;
      shapes[kept] = shapes[at] as number;
      starts[kept] = starts[at] as number;
      ends[kept] = ends[at] as number;
      lines[kept] = lines[at] as number;
    }
  }
  return { ...tokens, count: kept, shapes: shapes.subarray(0, kept) };
}

/** Reports whether a run is data. For punctuation, `texts` is the character code. */
function isData({ count, kinds, texts }: CodeTokens, at: number): boolean {
  const kind = kinds[at];
  if (kind === NAME || kind === NUMBER || kind === STRING) return true;
  const hash = texts[at] as number;
  if (kind === KEYWORD) return DATA_WORDS.has(hash);
  if (kind !== MARK) return false;
  if (hash !== EQUALS) return DATA_MARKS.has(hash);
  const next = at + 1 < count ? kinds[at + 1] : 0;
  return at > 0 && kinds[at - 1] === NAME && (next === NUMBER || next === STRING);
}

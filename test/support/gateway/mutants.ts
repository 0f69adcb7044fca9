import type { FunctionSpan } from '../../../engine/knowledge/guard/code/functions.ts';
import type { PreparedCode } from '../../../engine/knowledge/guard/code/read-code.ts';
import { NAME, NUMBER, STRING } from '../../../engine/knowledge/guard/code/tokens.ts';

/** Returns pseudo-random numbers that are the same in every run. */
export function createDice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns the lines of a function, with the whole first line. */
export function takeFunction({ text, tokens }: PreparedCode, { from, to }: FunctionSpan): string {
  const begin = text.lastIndexOf('\n', tokens.starts[from] as number) + 1;
  return text.slice(begin, tokens.ends[to - 1] as number);
}

/** Keeps the tokens and changes white space and comments. */
export function mutateLayout(text: string, dice: (below: number) => number, comment: string): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const deeper = line === '' ? line : `  ${line}`;
      return dice(6) === 0 ? [deeper, `  ${comment} ${dice(1000)} looked at once more`] : [deeper];
    })
    .join('\n');
}

/** Renames the function's local names throughout and changes literals. */
export function mutateNames(
  code: PreparedCode,
  { from, to }: FunctionSpan,
  dice: (below: number) => number,
): string {
  const { text, tokens } = code;
  const renamed = new Map<string, string>();
  const begin = text.lastIndexOf('\n', tokens.starts[from] as number) + 1;
  let out = '';
  let at = begin;
  for (let token = from; token < to; token += 1) {
    const start = tokens.starts[token] as number;
    const end = tokens.ends[token] as number;
    const word = text.slice(start, end);
    const kind = tokens.kinds[token];
    let shown = word;
    const isMember = text[start - 1] === '.' || /^\s*:/.test(text.slice(end, end + 3));
    if (kind === NAME && !isMember && text[end] !== '"' && text[end] !== "'") {
      if (!renamed.has(word)) renamed.set(word, dice(3) === 0 ? word : `${word}Of${dice(100)}`);
      shown = renamed.get(word) as string;
    } else if (kind === NUMBER && dice(2) === 0) shown = String(dice(1000));
    else if (kind === STRING && dice(2) === 0 && /^(['"])[\w ]*\1$/.test(word)) {
      shown = `${word[0]}${word.slice(1, -1)} too${word[0]}`;
    }
    out += text.slice(at, start) + shown;
    at = end;
  }
  return out;
}

/** Adds, removes or changes a line about every dozen lines. */
export function mutateLines(
  text: string,
  dice: (below: number) => number,
  statement: (number: number) => string,
): string {
  const lines = text.split('\n');
  const edits = Math.max(1, Math.round(lines.length / 12));
  for (let edit = 0; edit < edits; edit += 1) {
    // Skips the first and last line, and lines that open or close a block.
    const plain = lines
      .map((line, at) => ({ line, at }))
      .filter(
        ({ line, at }) =>
          at > 0 && at < lines.length - 1 && /\w/.test(line) && !/[{}:([]\s*$|^\s*[}\])]/.test(line),
      );
    const place = plain[dice(plain.length)];
    if (place === undefined) break;
    const indent = /^\s*/.exec(place.line)?.[0] ?? '';
    const kind = dice(3);
    if (kind === 0) lines.splice(place.at, 1);
    else if (kind === 1) lines.splice(place.at, 0, indent + statement(dice(1000)));
    else lines.splice(place.at, 1, indent + statement(dice(1000)));
  }
  return lines.join('\n');
}

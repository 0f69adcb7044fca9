import { hashText } from '../code/hash.ts';
import type { CodeTokens } from '../code/tokens.ts';

/** Returns the hashes of a text's lines, without indentation and line ends. */
function hashLines(text: string): number[] {
  const hashes: number[] = [];
  for (let from = 0; from <= text.length; ) {
    const at = text.indexOf('\n', from);
    const end = at < 0 ? text.length : at;
    let begin = from;
    let stop = end;
    while (begin < stop && text.charCodeAt(begin) <= 32) begin += 1;
    while (stop > begin && text.charCodeAt(stop - 1) <= 32) stop -= 1;
    hashes.push(begin === stop ? 0 : hashText(text, begin, stop));
    from = end + 1;
  }
  return hashes;
}

/**
 * Finds lines that the previous text did not have: differing lines in the middle, except moved ones. 1 for each new
 * line, by its number, from 1.
 */
export function findNewLines(before: string | null, text: string): Uint8Array {
  const lines = hashLines(text);
  const isNew = new Uint8Array(lines.length + 1).fill(1);
  if (before === null) return isNew;
  const old = hashLines(before);
  let from = 0;
  while (from < lines.length && from < old.length && lines[from] === old[from]) from += 1;
  let cut = 0;
  const most = Math.min(lines.length, old.length) - from;
  while (cut < most && lines[lines.length - 1 - cut] === old[old.length - 1 - cut]) cut += 1;
  isNew.fill(0, 0, from + 1);
  isNew.fill(0, lines.length - cut + 1);
  const left = new Map<number, number>();
  for (let at = from; at < old.length - cut; at += 1)
    left.set(old[at] as number, (left.get(old[at] as number) ?? 0) + 1);
  for (let at = from; at < lines.length - cut; at += 1) {
    const count = left.get(lines[at] as number) ?? 0;
    if (count === 0) continue;
    left.set(lines[at] as number, count - 1);
    isNew[at + 1] = 0;
  }
  return isNew;
}

/** A line with at most this many tokens is new if the lines around it are: `}` is in every text. */
const SHORT_LINE = 3;

/** Marks the tokens on new lines with 1. */
export function markNewTokens({ count, lines }: CodeTokens, newLines: Uint8Array): Uint8Array {
  const isNew = new Uint8Array(count);
  let isLastNew = false;
  for (let at = 0; at < count; ) {
    const line = lines[at] as number;
    let end = at + 1;
    while (end < count && lines[end] === line) end += 1;
    const isThisNew: boolean = newLines[line] === 1 || (end - at <= SHORT_LINE && isLastNew);
    if (isThisNew) isNew.fill(1, at, end);
    isLastNew = isThisNew;
    at = end;
  }
  return isNew;
}

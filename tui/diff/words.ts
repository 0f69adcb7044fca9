import type { StyledSpan, TextStyle } from '../text/theme.ts';

/** Longer lines are compared as a whole: their words take too long, and say little. */
const MOST_CHARS = 400;
/** The share of a line that may differ; beyond it the lines have nothing to do with each other. */
const MOST_CHANGED = 0.7;

type Compare = (one: string, other: string) => { value: string; added: boolean; removed: boolean }[];
let compareWords: Compare | null = null;

/** Loads what compares the words of two lines. */
export async function loadWordDiff(): Promise<void> {
  compareWords ??= (await import('diff')).diffWordsWithSpace;
}

/** The parts of a line, and if each differs from the other line. */
export type LineParts = readonly { text: string; isChanged: boolean }[];

/** Compares a removed line with the added one that replaces it; null if they have too little in common. */
export function compareLines(
  removed: string,
  added: string,
): { removed: LineParts; added: LineParts } | null {
  if (compareWords === null || removed.length > MOST_CHARS || added.length > MOST_CHARS) return null;
  const parts = compareWords(removed, added);
  const sideOf = (side: 'added' | 'removed'): LineParts =>
    parts
      .filter((part) => part[side] || (!part.added && !part.removed))
      .map((part) => ({ text: part.value, isChanged: part[side] }));
  const [old, fresh] = [sideOf('removed'), sideOf('added')];
  const changed = [...old, ...fresh].reduce((sum, each) => sum + (each.isChanged ? each.text.length : 0), 0);
  return changed > (removed.length + added.length) * MOST_CHANGED ? null : { removed: old, added: fresh };
}

/** Gives the changed parts of a line their style, and keeps the styles of the other parts. */
export function markParts(line: readonly StyledSpan[], parts: LineParts, style: TextStyle): StyledSpan[] {
  const marked: StyledSpan[] = [];
  let at = 0;
  let part = 0;
  for (const each of line) {
    let { text } = each;
    while (text !== '' && part < parts.length) {
      const { text: whole, isChanged } = parts[part]!;
      const taken = text.slice(0, whole.length - at);
      marked.push(isChanged ? { text: taken, style } : { ...each, text: taken });
      text = text.slice(taken.length);
      at += taken.length;
      if (at >= whole.length) {
        part += 1;
        at = 0;
      }
    }
    if (text !== '') marked.push({ ...each, text });
  }
  return marked;
}

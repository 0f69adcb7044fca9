import leven from 'leven';

/** Counts the typing errors (insert, delete, replace, one swap of neighbours) that turn `a` into `b`. */
export function countSlips(a: string, b: string): number {
  let least = leven(a, b);
  // leven counts a swap as two.
  for (let at = 1; at < a.length && least > 1; at += 1) {
    const swapped = a.slice(0, at - 1) + a.charAt(at) + a.charAt(at - 1) + a.slice(at + 1);
    least = Math.min(least, 1 + leven(swapped, b));
  }
  return least;
}

/** Finds the candidate that `word` most likely means, if one is close enough. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  const limit = Math.max(1, Math.floor(word.length / 3));
  let found: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const edits = countSlips(word.toLowerCase(), candidate.toLowerCase());
    if (edits < least) {
      found = candidate;
      least = edits;
    }
  }
  return found;
}

/** Returns `, did you mean …?` or nothing. */
export function suggestName(word: string, candidates: Iterable<string>): string {
  const found = findNearest(word, candidates);
  return found === undefined ? '' : `, did you mean ${found}?`;
}

/** Number of edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, before[column - 2]! + 1);
      }
      line.push(best);
    }
    before = above;
    above = line;
  }
  return above[b.length]!;
}

/** Finds the candidate that `word` most likely means, if one is close enough. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  const limit = Math.max(1, Math.floor(word.length / 3));
  let found: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < least) {
      found = candidate;
      least = edits;
    }
  }
  return found;
}

/** `, did you mean …?` or nothing. */
export function suggestName(word: string, candidates: Iterable<string>): string {
  const found = findNearest(word, candidates);
  return found === undefined ? '' : `, did you mean ${found}?`;
}

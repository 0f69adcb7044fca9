/** Returns maximum edits between a word and the intended one, where a swap of two neighbours counts as one. */
const edits = (length: number): number => (length < 5 ? 0 : length < 9 ? 1 : 2);

/**
 * Returns at most `most` of the `known` words that a mistyped `word` may mean, nearest first: words that start with
 * it, and words that differ by one letter, or by two if it is long.
 */
export function nearWords(word: string, known: Iterable<string>, most = 4): string[] {
  const allowed = edits(word.length);
  const found: { word: string; distance: number }[] = [];
  for (const each of known) {
    if (word.length >= 4 && each.startsWith(word)) found.push({ word: each, distance: 0.5 });
    else {
      const distance = countEdits(word, each, allowed);
      if (distance <= allowed) found.push({ word: each, distance });
    }
  }
  return found
    .sort((one, other) => one.distance - other.distance || one.word.length - other.word.length)
    .slice(0, most)
    .map(({ word }) => word);
}

/**
 * Returns the optimal string alignment distance of two words, or of their letters; `allowed + 1` as soon as it exceeds
 * `allowed`.
 */
export function countEdits(one: ArrayLike<string>, other: ArrayLike<string>, allowed: number): number {
  if (Math.abs(one.length - other.length) > allowed) return allowed + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const now = [row];
    let least = row;
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1] ? 0 : 1;
      let value = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + same,
      );
      if (one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1] && row > 1 && column > 1)
        value = Math.min(value, (before[column - 2] ?? 0) + 1);
      now.push(value);
      least = Math.min(least, value);
    }
    if (least > allowed) return allowed + 1;
    before = last;
    last = now;
  }
  return last[other.length] ?? allowed + 1;
}

import type { Db } from '../../storage/index.ts';
import { nearWords, quoteForMatch, readQuery } from '../search/index.ts';

/** Creates the reading of queries. */
export function createMatchReader(db: Db) {
  const isKnown = db.prepare('SELECT 1 FROM chunk_vocabulary WHERE term = ?');
  const vocabulary = db
    .prepare<unknown[], string>(
      'SELECT term FROM chunk_vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?',
    )
    .pluck();

  const listForms = (forms: readonly string[]): readonly string[] =>
    forms.filter((form) => isKnown.get(form) !== undefined);

  /** Corrections for an unknown word: known words with the same prefix, or that differ by a letter or two. */
  function guessWords(word: string): string[] {
    if (word.length < 4 || !/^[a-z]+$/.test(word)) return [];
    const first = word.charCodeAt(0);
    const range = [String.fromCharCode(first), String.fromCharCode(first + 1)];
    return nearWords(word, vocabulary.iterate(...range, word.length - 2, word.length + 6));
  }

  /** Returns MATCH expressions, from all requested words to similar ones. */
  function readMatches(query: string): string[] {
    const wanted = readQuery(query).map(({ word, forms, near }) => {
      const known = listForms(forms);
      return { words: known.length > 0 ? known : guessWords(word), near: listForms(near) };
    });
    const anyOf = (words: readonly string[]): string => words.map(quoteForMatch).join(' OR ');
    const groups = wanted.filter(({ words }) => words.length > 0).map(({ words }) => `(${anyOf(words)})`);
    const like = wanted.flatMap(({ near }) => near);
    return [
      ...(groups.length > 1 ? [groups.join(' AND ')] : []),
      ...(groups.length > 0 ? [groups.join(' OR ')] : []),
      ...(like.length > 0 ? [anyOf(like)] : []),
    ];
  }

  return readMatches;
}

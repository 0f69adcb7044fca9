import { isLightWord } from './light-words.ts';
import { STOP_WORDS } from './stop-words.ts';
import { findPhrases, listSynonyms, listSynonymsWithin } from './synonyms.ts';
import { foldText, listKeys, listPlain, listTerms, type TermForms } from './terms.ts';

/** One search term. */
export interface QueryTerm {
  word: string;
  /** Forms of the word in an index. */
  forms: readonly string[];
  /** Terms of other words with a possibly equal meaning. */
  near: readonly string[];
  /** Its weight besides rarity: a whole identifier counts more than its parts, a character less than a pair. */
  weight: number;
}

const WEIGHTS: Record<TermForms['kind'], number> = {
  word: 1,
  joined: 1.6,
  part: 0.8,
  pair: 1,
  syllables: 0.4,
  character: 0.3,
  ending: 0.35,
};
/** The weight of a common word relative to a specific one. */
const LIGHT = 0.5;
/** Limit for a text used as a query, such as a task. */
const LONGEST_QUERY = 16_384;

/** Quotes a term for MATCH of FTS5, so that no part of it is syntax. */
export const quoteForMatch = (term: string): string => `"${term.replaceAll('\0', '').replaceAll('"', '""')}"`;

/**
 * Returns the search terms of a text, each once, in their order; at most `mostTerms`. Stop words are skipped, unless
 * there are no other words.
 */
export function readQuery(text: string, mostTerms = 48): QueryTerm[] {
  const read = text.slice(0, LONGEST_QUERY);
  const found = listTerms(read);
  const telling = found.filter(({ word }) => !STOP_WORDS.has(word));
  const used = telling.length > 0 ? telling : found;
  const terms = new Map<string, QueryTerm>();
  for (const { word, forms, kind } of used) {
    if (terms.has(word) || (kind === 'part' && word.length < 2)) continue;
    if (terms.size >= mostTerms) break;
    terms.set(word, {
      word,
      forms,
      near: listNear(listSynonyms(word)),
      weight: WEIGHTS[kind] * (isLightWord(word) ? LIGHT : 1),
    });
  }
  for (const { word, others } of listSynonymsWithin(foldText(read))) {
    const term = listKeys(word)
      .map((key) => terms.get(key))
      .find((each) => each !== undefined);
    if (term !== undefined) terms.set(term.word, { ...term, near: [...term.near, ...listNear(others)] });
  }
  const plain = listPlain(found);
  for (const { last, length, key, others } of findPhrases(plain.map(({ word }) => word)))
    for (const { word } of plain.slice(last + 1 - length, last + 1)) {
      const term = terms.get(word);
      if (term !== undefined) terms.set(word, { ...term, near: [...term.near, key, ...listNear(others)] });
    }
  return [...terms.values()];
}

const listNear = (others: readonly string[]): string[] => [...new Set(others.flatMap(listKeys))];

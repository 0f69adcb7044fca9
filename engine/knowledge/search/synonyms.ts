import { readFileSync } from 'node:fs';
import { locateWords } from '../../core/base/own-package.ts';
import { stemEnglish } from './stem.ts';

const IS_SPACED = /^[\p{sc=Latin}\d_-]+$/u;

/** Several words with a joint meaning. */
interface Phrase {
  stems: readonly string[];
  /** The index term of the phrase. */
  key: string;
  others: readonly string[];
}

interface Synonyms {
  /** By stem. */
  spaced: Map<string, readonly string[]>;
  unspaced: Map<string, readonly string[]>;
  /** By the stem of the first word. */
  phrases: Map<string, Phrase[]>;
}
let found: Synonyms | undefined;

const joinPhrase = (words: string): string => words.replaceAll('-', '');

function readGroups(): Synonyms {
  const spaced = new Map<string, readonly string[]>();
  const unspaced = new Map<string, readonly string[]>();
  const phrases = new Map<string, Phrase[]>();
  const lines = readFileSync(locateWords('synonyms.txt'), 'utf8').split('\n');
  for (const line of lines.filter((each) => each !== '' && !each.startsWith('#'))) {
    const words = [...new Set(line.split(' ').filter((word) => IS_SPACED.test(word) || word.length > 1))];
    const makeWordKey = (word: string): string =>
      IS_SPACED.test(word) ? stemEnglish(joinPhrase(word)) : word;
    for (const each of words) {
      const key = makeWordKey(each);
      const map = IS_SPACED.test(each) ? spaced : unspaced;
      const others = words.filter((other) => makeWordKey(other) !== key).map(joinPhrase);
      map.set(key, [...new Set([...(map.get(key) ?? []), ...others])]);
      if (!each.includes('-')) continue;
      const stems = each.split('-').map(stemEnglish);
      const [first = ''] = stems;
      phrases.set(first, [...(phrases.get(first) ?? []), { stems, key: joinPhrase(each), others }]);
    }
  }
  return { spaced, unspaced, phrases };
}

/** Returns synonyms of a space-separated word, without the word itself. */
export function listSynonyms(word: string): readonly string[] {
  found ??= readGroups();
  return found.spaced.get(stemEnglish(word)) ?? [];
}

/** Returns the words with synonyms in a run of Chinese or Japanese, with their synonyms. */
export function listSynonymsWithin(run: string): { word: string; others: readonly string[] }[] {
  found ??= readGroups();
  return [...found.unspaced]
    .filter(([word]) => run.includes(word))
    .map(([word, others]) => ({ word, others }));
}

/** Returns the phrases among consecutive folded words, each with the position of its last word and its length. */
export function findPhrases(
  words: readonly string[],
): { last: number; length: number; key: string; others: readonly string[] }[] {
  found ??= readGroups();
  const { phrases } = found;
  const stems = words.map(stemEnglish);
  return stems.flatMap((first, at) =>
    (phrases.get(first) ?? [])
      .filter((phrase) => phrase.stems.every((stem, next) => stems[at + next] === stem))
      .map(({ key, others, stems: { length } }) => ({ last: at + length - 1, length, key, others })),
  );
}

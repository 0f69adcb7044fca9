import { FUNCTION_WORDS } from './function-words.ts';
import { isNearLanguage } from './near-languages.ts';
import { ENDINGS, TRADE_WORDS } from './trade-words.ts';

/** The language of a text. */
export interface DetectedLanguage {
  /** ISO 639-1, such as `de`. */
  language: string;
  /** 0 to 1. */
  confidence: number;
}

/** Scripts with their languages, most used first; Latin is distinguished by words. */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/[\u3040-\u30ff]/gu, 'ja'],
  [/\p{Script=Han}/gu, 'zh'],
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Cyrillic}/gu, 'ru'],
  [/\p{Script=Greek}/gu, 'el'],
  [/\p{Script=Arabic}/gu, 'ar'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Devanagari}/gu, 'hi'],
  [/\p{Script=Thai}/gu, 'th'],
];
/** Letters unique to one language of a script. */
const OWN_LETTERS: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  ru: [
    [/[іїєґ]/iu, 'uk'],
    [/[ўі]/iu, 'be'],
  ],
  ar: [[/[پچژگ]/u, 'fa']],
};
/** Letters that weigh more in a Latin text than a word, with their languages. */
const LATIN_LETTERS: readonly (readonly [RegExp, string])[] = [
  [/ß/giu, 'de'],
  [/[äöü]/giu, 'de fi hu tr sv'],
  [/[ñ¿¡]/giu, 'es'],
  [/[ãõ]/giu, 'pt'],
  [/ç/giu, 'fr pt tr'],
  [/[êèàùœ]/giu, 'fr it pt'],
  [/[áíóú]/giu, 'es pt hu cs'],
  [/[łżźśćąę]/giu, 'pl'],
  [/[řěůčšž]/giu, 'cs'],
  [/[şğı]/giu, 'tr'],
  [/[ăâîșț]/giu, 'ro'],
  [/[őű]/giu, 'hu'],
  [/å/giu, 'sv da nb'],
  [/[øæ]/giu, 'da nb'],
];
const LETTER_WEIGHT = 0.8;
const ENDING_WEIGHT = 0.4;
const LETTER_WORD_WEIGHT = 0.3;
const MOST_MARKS = 4;

/** The languages of each word. */
const WORDS: ReadonlyMap<string, readonly string[]> = collectWords();

function collectWords(): Map<string, string[]> {
  const words = new Map<string, string[]>();
  for (const [language, list] of Object.entries(FUNCTION_WORDS)) {
    const all = new Set([...list.split(' '), ...(TRADE_WORDS[language] ?? '').split(' ')]);
    for (const word of all) words.set(word, [...(words.get(word) ?? []), language]);
  }
  return words;
}

/** Minimum words of a text to recognise another language. */
const FEWEST_WORDS = 3;
const LONGEST_TEXT = 4000;
/** Less than one word of evidence. */
const LEAST_SCORE = 0.7;

/** Detects the language of a text by its script, otherwise by its function words; null for too little evidence. */
export function detectLanguage(whole: string): DetectedLanguage | null {
  const text = whole.length > LONGEST_TEXT ? whole.slice(0, LONGEST_TEXT) : whole;
  return detectScript(text) ?? detectLatin(text);
}

/** Detects the language of a text in another script than Latin; null for Latin. */
export function detectScript(text: string): DetectedLanguage | null {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters < 2) return null;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  let best: [string, number] = ['', 0];
  let foreign = 0;
  for (const [pattern, language] of SCRIPTS) {
    const count = text.match(pattern)?.length ?? 0;
    foreign += count;
    // Japanese also uses Han: a third of kana is enough.
    const weight = language === 'ja' ? 3 * count : count;
    if (weight > best[1]) best = [language, weight];
  }
  // A letter of an alphabet weighs a fifth of a word, a Han character half of one.
  const isDense = best[0] === 'zh' || best[0] === 'ja' || best[0] === 'ko';
  const share = (foreign * (isDense ? 2.5 : 1)) / (foreign * (isDense ? 2.5 : 1) + latin);
  if (foreign < 2 || share < 0.5) return null;
  const [script] = best;
  const own = OWN_LETTERS[script]?.find(([letter]) => letter.test(text));
  return { language: own?.[1] ?? script, confidence: Math.min(1, share) };
}

function detectLatin(text: string): DetectedLanguage | null {
  const words = text.toLowerCase().match(/\p{L}+(?:['’-]\p{L}+)*/gu) ?? [];
  if (words.length < FEWEST_WORDS) return null;
  const scores = new Map<string, number>();
  const addWeight = (language: string, weight: number): void =>
    void scores.set(language, (scores.get(language) ?? 0) + weight);
  const addWord = (word: string): boolean => {
    const languages = WORDS.get(word) ?? [];
    // A single letter may be a variable, or a remainder.
    const weight = word.length === 1 ? LETTER_WORD_WEIGHT : 1;
    for (const language of languages) addWeight(language, weight / Math.sqrt(languages.length));
    return languages.length > 0;
  };
  for (const word of words) {
    if (addWord(word)) continue;
    // l’eau, dell’albero, d'un
    const [head = '', ...rest] = word.split(/['’]/);
    if (rest.length === 0) continue;
    if (/^(?:l|d|j|n|qu|s|c|m|t)$/.test(head)) {
      addWeight('fr', 0.7);
      if (head === 'l' || head === 'd' || head === 'c') addWeight('it', 0.5);
    } else if (/^(?:dell|all|nell|dall|sull|un|quest)$/.test(head)) addWeight('it', 1);
    else if (/^(?:s|t|re|ve|ll|d|m)$/.test(rest.at(-1) ?? '')) addWeight('en', 0.8);
    for (const part of rest) addWord(part);
  }
  const addMarks = (marks: readonly (readonly [RegExp, string])[], each: number): void => {
    for (const [mark, languages] of marks) {
      const count = Math.min(MOST_MARKS, text.match(mark)?.length ?? 0);
      const named = languages.split(' ');
      if (count > 0) for (const language of named) addWeight(language, (count * each) / named.length);
    }
  };
  addMarks(LATIN_LETTERS, LETTER_WEIGHT);
  addMarks(ENDINGS, ENDING_WEIGHT);
  const [[best, most] = ['', 0], [, second] = ['', 0]] = [...scores]
    .sort(([, one], [, other]) => other - one)
    .filter(([language], index, all) => index === 0 || !isNearLanguage(language, all[0]?.[0] ?? ''));
  if (most < LEAST_SCORE) return null;
  // Its lead, and the share of the text that supports it.
  const lead = (most - second) / (most + 0.5);
  const support = Math.min(1, most / Math.min(8, Math.max(2, 0.35 * words.length)));
  return { language: best, confidence: Math.round(100 * lead * support) / 100 };
}

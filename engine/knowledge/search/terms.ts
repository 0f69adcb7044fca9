import { looksEnglish } from './english.ts';
import { stemEnglish, stemOther } from './stem.ts';
import { findPhrases } from './synonyms.ts';

/** Returns a text in comparable form: compatible forms unified (NFKC), lower case, without Latin accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(/[\u0300-\u036f\u0000]/g, '')
    .normalize('NFC');

/** Returns the alternative spelling of German umlauts. */
const spellOut = (word: string): string =>
  word.replace(/[äöü]/gi, (letter) => `${foldText(letter)}e`).replaceAll('ß', 'ss');

/** Scripts without spaces between words, and Korean, which joins particles to them. */
const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\u30fc\\u3005\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Hangul}';
const RUN = new RegExp(`[${UNSPACED}]+|[\\p{L}\\p{N}\\p{M}_]+`, 'gu');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const SPACED_PART = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');
/** Words joined by the separators of paths, versions, options and names: `src/db.ts`, `v1.2.3`, `no-verify`, `a::b`. */
const COMPOUND =
  /[\p{L}\p{N}\p{M}_]+(?:(?:[-./\\:@#]|::|->)+[\p{L}\p{N}\p{M}_]+)*|\p{Extended_Pictographic}|\p{RI}{2}/gu;
const IS_EMOJI = /^[\p{Extended_Pictographic}\p{RI}]/u;
/** Longer runs are data, not words. */
const LONGEST_WORD = 64;

/** Splits an identifier at its boundaries: `getHTTPUrl2` is get, http, url, 2. */
const splitCase = (word: string): string[] =>
  word
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/(\p{L})(\p{N})/gu, '$1 $2')
    .replace(/(\p{N})(\p{L})/gu, '$1 $2')
    .split(/[\s_]+/)
    .filter(Boolean);

/** The search forms of one position in a text. */
export interface TermForms {
  /** The folded word as written. */
  word: string;
  /** All forms under which it is indexed, including `word`. */
  forms: string[];
  kind: 'word' | 'part' | 'joined' | 'pair' | 'character' | 'syllables' | 'ending';
}

const PURE_WORD = /^[a-z]+$/;

/** Stemming rules; an English text only gets English rules, since `broker` and `broken` have the same stem in German. */
type Stems = (word: string) => readonly string[];
const stemAnyLanguage: Stems = (word) => [stemEnglish(word), stemOther(word)];
const stemOnlyEnglish: Stems = (word) => [stemEnglish(word)];

/** Returns a word and its stems. */
function listForms(raw: string, stems: Stems = stemAnyLanguage): string[] {
  const word = foldText(raw);
  const forms = new Set([word]);
  for (const each of [word, ...(/[äöü]/i.test(raw) ? [foldText(spellOut(raw))] : [])]) {
    forms.add(each);
    if (!PURE_WORD.test(each)) continue;
    for (const stem of stems(each)) forms.add(stem);
  }
  return [...forms];
}

/** Japanese writes foreign words in a separate script, so they are whole words. */
const KATAKANA = /[\p{sc=Katakana}\u30fc]{3,}/gu;

const SYLLABLES = /^[\p{sc=Katakana}\u30fc]{2}$/u;
/** Hiragana inflects words and separates them. */
const HAS_ENDING = /\p{sc=Hiragana}/u;
/** A syllable of Korean that may be a particle after a word, and one that is after a single syllable. */
const HAS_PARTICLE = /^.[은는이가을를의에서로도와과만게고면]$/u;
const IS_SHORT_WORD = /^\p{sc=Hangul}[은는을를]$/u;
function kindOfPair(pair: string, at: number, run: string): TermForms['kind'] {
  if (SYLLABLES.test(pair)) return 'syllables';
  const hasParticle = at > 0 ? HAS_PARTICLE.test(pair) : IS_SHORT_WORD.test(run);
  return hasParticle || HAS_ENDING.test(pair) ? 'ending' : 'pair';
}

/** Pairs of neighbours and single characters: a word of such a script has two or more characters. */
function findUnspaced(run: string): TermForms[] {
  const folded = foldText(run);
  const characters = [...folded];
  const pairs = characters.flatMap((character, at): TermForms[] => {
    const next = characters[at + 1];
    const single: TermForms = { word: character, forms: [character], kind: 'character' };
    if (next === undefined) return [single];
    const pair: TermForms = {
      word: character + next,
      forms: [character + next],
      kind: kindOfPair(character + next, at, folded),
    };
    return [single, pair];
  });
  const words = (folded.match(KATAKANA) ?? []).map(
    (word): TermForms => ({ word, forms: [word], kind: 'joined' }),
  );
  return [...words, ...pairs];
}

/** Returns the best index terms for finding a word, in any script. */
export function listKeys(word: string): string[] {
  const folded = foldText(word);
  if (!IS_UNSPACED.test(folded)) return listForms(folded);
  if (folded.length <= 2 || /^[\p{sc=Katakana}\u30fc]+$/u.test(folded)) return [folded];
  // In a word of three the head comes last; a word of four is two words, and the first is more specific.
  return [folded.length === 3 ? folded.slice(1) : folded.slice(0, 2)];
}

function findInWord(word: string, stems: Stems): TermForms[] {
  if (word.length > LONGEST_WORD) return [];
  const parts = splitCase(word);
  const whole = word.replaceAll('_', '');
  if (parts.length < 2)
    return parts.map(
      (each): TermForms => ({ word: foldText(each), forms: listForms(each, stems), kind: 'word' }),
    );
  return [
    { word: foldText(whole), forms: listForms(whole, stems), kind: 'joined' },
    ...parts.map(
      (each): TermForms => ({ word: foldText(each), forms: listForms(each, stems), kind: 'part' }),
    ),
  ];
}

/** The index has letters and digits only. */
function findInEmoji(emoji: string): TermForms {
  const word = `emoji${Array.from(emoji, (each) => each.codePointAt(0)?.toString(16)).join('x')}`;
  return { word, forms: [word], kind: 'word' };
}

/** Returns the search forms of one compound of a text, in NFKC form. */
function findInCompound(compound: string, stems: Stems = stemAnyLanguage): TermForms[] {
  if (IS_EMOJI.test(compound)) return [findInEmoji(compound)];
  const found: TermForms[] = [];
  const runs = (compound.match(RUN) ?? []).flatMap((run) => run.match(SPACED_PART) ?? []);
  const spaced = runs.filter((run) => !IS_UNSPACED.test(run));
  const joined = foldText(spaced.join('').replaceAll('_', ''));
  if (spaced.length > 1 && spaced.length === runs.length && joined.length <= LONGEST_WORD)
    found.push({ word: joined, forms: [joined], kind: 'joined' });
  for (const run of runs) found.push(...(IS_UNSPACED.test(run) ? findUnspaced(run) : findInWord(run, stems)));
  return found;
}

/**
 * Returns all search forms of a text, in order: words with their stems, the parts of identifiers and the joined form,
 * pairs and characters of scripts without spaces.
 */
export const listTerms = (text: string, stems: Stems = stemAnyLanguage): TermForms[] =>
  [...text.normalize('NFKC').matchAll(COMPOUND)].flatMap(([compound]) => findInCompound(compound, stems));

/** Returns the words among terms, with their positions, for matching phrases. */
export const listPlain = (terms: readonly TermForms[]): { word: string; at: number }[] =>
  terms.flatMap(({ word, kind }, at) => (kind === 'word' || kind === 'part' ? [{ word, at }] : []));

/** Maximum length of a text that is read. */
const MOST_CHARS = 65_536;

/** Returns the index text of a row: all forms of all words, and known phrases. */
export function indexTexts<const T extends readonly string[]>(texts: T): { [K in keyof T]: string } {
  const read = texts.map((text) => text.slice(0, MOST_CHARS));
  const stems = looksEnglish(read.join('\n')) ? stemOnlyEnglish : stemAnyLanguage;
  return read.map((text) => {
    const terms = listTerms(text, stems);
    const forms = terms.map((each) => [...each.forms]);
    const plain = listPlain(terms);
    for (const { last, key } of findPhrases(plain.map(({ word }) => word)))
      forms[plain[last]?.at ?? 0]?.push(key);
    return forms.flat().join(' ');
  }) as { [K in keyof T]: string };
}

/** Number of words that an indexer caches. */
const MOST_REMEMBERED = 50_000;

/**
 * Creates an `indexText` for parts of program outputs, which are repetitive: each word is processed once, and is in
 * each part once.
 */
export function createTextIndexer(): (text: string) => string {
  const remembered = new Map<string, string[]>();
  function collectForms(compound: string): string[] {
    const known = remembered.get(compound);
    if (known !== undefined) return known;
    const forms = findInCompound(compound).flatMap((each) => each.forms);
    if (remembered.size < MOST_REMEMBERED) remembered.set(compound, forms);
    return forms;
  }
  return (text) => {
    const forms = new Set<string>();
    for (const compound of new Set(text.normalize('NFKC').match(COMPOUND)))
      for (const form of collectForms(compound)) forms.add(form);
    return [...forms].join(' ');
  };
}

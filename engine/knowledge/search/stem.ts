// The rest of a word without inflectional endings. Both sides of a search are treated alike, so a stem need not be a word.

const HAS_VOWEL = /[aeiouy]/;
const ENDS_DOUBLE = /([^aeioulsz])\1$/;
/** Consonant, vowel, consonant other than w, x and y: such a word had an e (hop-ing is of hope, and hopp-ing of hop). */
const ENDS_SHORT = /^(?:[^aeiou]*)[aeiouy][^aeiouwxy]$/;
/** The same at the end of a longer word, which keeps its e. */
const ENDS_OPEN = /[^aeiou][aeiouy][^aeiouwxy]$/;
/** Returns how often a vowel is followed by a consonant. */
const measureStem = (text: string): number => text.match(/[aeiouy]+[^aeiouy]+/g)?.length ?? 0;

type Rule = readonly [ending: string, to: string];
const LONG: readonly Rule[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['isation', 'ize'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['iser', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['abli', 'able'],
  ['eli', 'e'],
];
const MIDDLE: readonly Rule[] = [
  ['icate', 'ic'],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const LAST = /(?:ement|ance|ence|able|ible|ment|ion|ism|ate|iti|ous|ive|ize|ise|ant|ent|al|er|ic)$/;

function replaceEnding(word: string, rules: readonly Rule[]): string {
  const rule = rules.find(([ending]) => word.endsWith(ending));
  if (rule === undefined) return word;
  const stem = word.slice(0, -rule[0].length);
  return measureStem(stem) > 0 ? stem + rule[1] : word;
}

function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measureStem(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = /(?:ed|ing)$/.exec(word)?.[0];
  const stem = ending === undefined ? '' : word.slice(0, -ending.length);
  if (stem.length < 2 || !HAS_VOWEL.test(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (ENDS_DOUBLE.test(stem)) return stem.slice(0, -1);
  return ENDS_SHORT.test(stem) ? `${stem}e` : stem;
}

/**
 * Returns the stem of an English word of lower-case letters by the steps of M. F. Porter, "An algorithm for suffix
 * stripping" (1980), with -ise added to -ize.
 */
export function stemEnglish(word: string): string {
  if (word.length < 4) return word;
  let stem = word
    .replace(/sses$/, 'ss')
    .replace(/ies$/, 'i')
    .replace(/([^su])s$/, '$1');
  stem = withoutPast(stem);
  if (stem.endsWith('y') && HAS_VOWEL.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceEnding(replaceEnding(stem, LONG), MIDDLE);
  const last = LAST.exec(stem);
  if (last !== null) {
    const before = stem.slice(0, last.index);
    if (measureStem(before) > 1 && (last[0] !== 'ion' || /[st]$/.test(before))) stem = before;
  }
  if (stem.endsWith('e')) {
    const before = stem.slice(0, -1);
    if (measureStem(before) > 1 || (measureStem(before) === 1 && !ENDS_OPEN.test(before))) stem = before;
  }
  return stem.replace(/ll$/, measureStem(stem) > 1 ? 'l' : 'll');
}

/** Does the same for German, French and Spanish inflectional endings; at least four letters stay. */
export const stemOther = (word: string): string =>
  word.replace(/^(.{4,}?)(?:ungen|ung|ions|iones|ion|ern|em|en|er|es|os|as|e|n|s|o|a)$/, '$1');

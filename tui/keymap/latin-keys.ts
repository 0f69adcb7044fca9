/** Letters of a layout, and the Latin letters on the same keys. */
const LAYOUTS: readonly (readonly [letters: string, latin: string])[] = [
  ['йцукенгшщзхъфывапролджэячсмитьбюё', "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"],
  // Differences of the Ukrainian and the Belarusian layout from the Russian one.
  ['іїєґў', "s]'\\o"],
  // The Greek key of W types the final sigma, which has no capital, so it precedes the letter of S.
  ['ςερτυθιοπασδφγηξκλζχψωβνμ', 'wertyuiopasdfghjklzxcvbnm'],
];

const SHIFTED: Readonly<Record<string, string>> = {
  '[': '{',
  ']': '}',
  ';': ':',
  "'": '"',
  ',': '<',
  '.': '>',
  '`': '~',
  '\\': '|',
};

const LATIN: ReadonlyMap<string, string> = new Map(
  LAYOUTS.flatMap(([letters, latin]) =>
    Array.from(letters, (letter, at) => [letter, latin[at] ?? letter] as const).flatMap(([letter, key]) => [
      [letter, key] as const,
      [letter.toUpperCase(), SHIFTED[key] ?? key.toUpperCase()] as const,
    ]),
  ),
);

/** Returns the Latin letter of the same key on the keyboard; any other key as it is. */
export const toLatinKey = (key: string): string => LATIN.get(key) ?? key;

/** Reports whether a key is a letter without a Latin counterpart, so that no command can have it. */
export const isForeignLetter = (key: string): boolean => /^[\p{L}\p{M}]+$/u.test(key) && !/^[a-z]/i.test(key);

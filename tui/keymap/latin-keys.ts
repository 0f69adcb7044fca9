/** Letters of a layout, and what the same keys type with a Latin one. */
const LAYOUTS: readonly (readonly [letters: string, latin: string])[] = [
  ['йцукенгшщзхъфывапролджэячсмитьбюё', "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"],
  // Where the Ukrainian and the Belarusian layout differ from the Russian one.
  ['іїєґў', "s]'\\o"],
  // The Greek small letter of W has no capital of its own, so that it stands before the letter of S.
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

/** Whether a key is a letter that stands for no Latin one, so that no command can have it. */
export const isForeignLetter = (key: string): boolean => /^[\p{L}\p{M}]+$/u.test(key) && !/^[a-z]/i.test(key);

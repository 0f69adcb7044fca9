const HUES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const BRIGHT = [
  'blackBright',
  'redBright',
  'greenBright',
  'yellowBright',
  'blueBright',
  'magentaBright',
  'cyanBright',
  'whiteBright',
] as const;
const BACKGROUNDS = [
  'bgBlack',
  'bgRed',
  'bgGreen',
  'bgYellow',
  'bgBlue',
  'bgMagenta',
  'bgCyan',
  'bgWhite',
] as const;
/** The sixteen colours of a terminal, as `styleText` names them. */
export const LOOKS = [
  'bold',
  'dim',
  'italic',
  'underline',
  'inverse',
  ...HUES,
  ...BRIGHT,
  ...BACKGROUNDS,
  'bgBlackBright',
] as const;
export type SpanStyle = (typeof LOOKS)[number];

/**
 * Styles are named by meaning, not by look. Only the 16 ANSI colours are used, which work with light and dark themes.
 * A style is never the only sign: a word or a glyph is next to it.
 */
const STANDARD = {
  plain: [],
  dim: ['dim'],
  strong: ['bold'],
  title: ['bold'],
  border: ['dim'],
  focus: ['cyan'],
  key: ['bold', 'cyan'],
  good: ['green'],
  bad: ['red'],
  warn: ['yellow'],
  live: ['cyan'],
  selected: ['inverse'],
  marked: ['bold'],
  hit: ['inverse', 'yellow'],
  added: ['green'],
  removed: ['red'],
  hunk: ['cyan'],
  'added-word': ['green', 'inverse'],
  'removed-word': ['red', 'inverse'],
  keyword: ['magenta'],
  string: ['yellow'],
  number: ['cyan'],
  name: ['blue'],
  comment: ['dim'],
  question: ['bold', 'yellow'],
} as const satisfies Record<string, readonly SpanStyle[]>;

export type TextStyle = keyof typeof STANDARD;
export type Theme = Readonly<Record<TextStyle, readonly SpanStyle[]>>;

export const STYLES = Object.keys(STANDARD) as TextStyle[];
export const THEME_NAMES = ['standard', 'dark', 'light', 'colour-blind'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/**
 * The built-in themes. The standard one reads on any background; the ones for dark and light terminals have a quieter
 * selection and more contrast. In the last, red and green, which many eyes cannot distinguish, are blue and bold yellow.
 */
export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  standard: STANDARD,
  dark: {
    ...STANDARD,
    focus: ['cyanBright'],
    key: ['bold', 'cyanBright'],
    good: ['greenBright'],
    bad: ['redBright'],
    warn: ['yellowBright'],
    live: ['cyanBright'],
    selected: ['bgBlue', 'whiteBright'],
    added: ['greenBright'],
    removed: ['redBright'],
    question: ['bold', 'yellowBright'],
  },
  light: {
    ...STANDARD,
    focus: ['blue'],
    key: ['bold', 'blue'],
    warn: ['magenta'],
    live: ['blue'],
    selected: ['bgCyan', 'black'],
    hit: ['inverse', 'blue'],
    hunk: ['blue'],
    string: ['red'],
    question: ['bold', 'magenta'],
  },
  'colour-blind': {
    ...STANDARD,
    good: ['blueBright'],
    added: ['blueBright'],
    'added-word': ['blueBright', 'inverse'],
    bad: ['bold', 'yellowBright'],
    removed: ['yellow'],
    'removed-word': ['yellow', 'inverse'],
    string: ['cyan'],
    warn: ['magenta'],
    question: ['bold', 'magenta'],
    hit: ['inverse', 'magenta'],
  },
};

/** A piece of a line with one style. */
export interface StyledSpan {
  text: string;
  style?: TextStyle | undefined;
  /** True in the selected row of the list that has the keyboard: the style of its state is on the selection's. */
  isSelected?: true;
}

/** A line of the screen: spans from left to right, without line breaks or control characters. */
export type StyledLine = readonly StyledSpan[];

export const span = (text: string, style?: TextStyle): StyledSpan =>
  style === undefined ? { text } : { text, style };

export const toPlainText = (line: StyledLine): string => line.map((each) => each.text).join('');

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
/** The sixteen colours of a terminal, as `styleText` names them. */
export const LOOKS = ['bold', 'dim', 'italic', 'underline', 'inverse', ...HUES, ...BRIGHT] as const;
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
  question: ['bold', 'yellow'],
} as const satisfies Record<string, readonly SpanStyle[]>;

export type TextStyle = keyof typeof STANDARD;
export type Theme = Readonly<Record<TextStyle, readonly SpanStyle[]>>;

export const STYLES = Object.keys(STANDARD) as TextStyle[];
export const THEME_NAMES = ['standard', 'colour-blind'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/** The built-in themes. In the second, red and green, which many eyes cannot distinguish, are blue and bold yellow. */
export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  standard: STANDARD,
  'colour-blind': {
    ...STANDARD,
    good: ['blueBright'],
    added: ['blueBright'],
    bad: ['bold', 'yellowBright'],
    removed: ['yellow'],
    warn: ['magenta'],
    question: ['bold', 'magenta'],
    hit: ['inverse', 'magenta'],
  },
};

/** A piece of a line with one style. */
export interface StyledSpan {
  text: string;
  style?: TextStyle | undefined;
}

/** A line of the screen: spans from left to right, without line breaks or control characters. */
export type StyledLine = readonly StyledSpan[];

export const span = (text: string, style?: TextStyle): StyledSpan =>
  style === undefined ? { text } : { text, style };

export const toPlainText = (line: StyledLine): string => line.map((each) => each.text).join('');

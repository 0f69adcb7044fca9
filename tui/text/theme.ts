import type { styleText } from 'node:util';

export type Format = Parameters<typeof styleText>[0];

/**
 * Styles are named by meaning, not by look. Only the 16 ANSI colours are used, which fit light and dark themes. No style
 * is the only sign of anything: a word or a glyph stands beside it.
 */
export const THEME = {
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
} as const satisfies Record<string, Format>;

export type Style = keyof typeof THEME;

/** A piece of a line with one style. */
export interface Span {
  text: string;
  style?: Style | undefined;
}

/** A line of the screen: spans from left to right, without line breaks or control characters. */
export type Line = readonly Span[];

export const span = (text: string, style?: Style): Span => (style === undefined ? { text } : { text, style });

export const toPlainText = (line: Line): string => line.map((each) => each.text).join('');

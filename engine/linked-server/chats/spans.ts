import { cutToWidth, toPrintable } from '../../core/base/text.ts';
import type { Span } from './service.ts';

/** Text from outside as one line without control characters and marks of direction, and not longer than so many UTF-16 units. */
export const cleanText = (text: string, most = 300): string =>
  cutToWidth(toPrintable(text.toWellFormed()).replace(/\s+/g, ' ').trim(), most, ({ length }) => length);

/** A sentence of ours with values from outside in it, which stay what they are: say`Approved by ${name}`. */
export const say = (words: TemplateStringsArray, ...values: readonly (string | readonly Span[])[]): Span[] =>
  words
    .flatMap((word, at): (Span | readonly Span[])[] => {
      const value = values[at];
      const own = { text: word, isOutside: false };
      if (value === undefined) return [own];
      return [own, typeof value === 'string' ? { text: cleanText(value), isOutside: true } : value];
    })
    .flat()
    .filter(({ text }) => text !== '');

export const joinSpans = (spans: readonly Span[]): string => spans.map(({ text }) => text).join('');

/** Words of ours that were put together. */
export const own = (text: string): Span[] => [{ text, isOutside: false }];

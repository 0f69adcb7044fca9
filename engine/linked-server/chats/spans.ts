import { cutToWidth, toPrintable } from '../../core/base/text.ts';
import type { ChatSpan } from './service.ts';

/** Cleans text from outside: one line without control and direction characters, limited to a number of UTF-16 units. */
export const cleanText = (text: string, most = 300): string =>
  cutToWidth(toPrintable(text.toWellFormed()).replace(/\s+/g, ' ').trim(), most, ({ length }) => length);

/** Builds a sentence of ours with literal values from outside: say`Approved by ${name}`. */
export const formatSpans = (
  words: TemplateStringsArray,
  ...values: readonly (string | readonly ChatSpan[])[]
): ChatSpan[] =>
  words
    .flatMap((word, at): (ChatSpan | readonly ChatSpan[])[] => {
      const value = values[at];
      const own = { text: word, isOutside: false };
      if (value === undefined) return [own];
      return [own, typeof value === 'string' ? { text: cleanText(value), isOutside: true } : value];
    })
    .flat()
    .filter(({ text }) => text !== '');

export const joinSpans = (spans: readonly ChatSpan[]): string => spans.map(({ text }) => text).join('');

/** Marks text as our own. */
export const own = (text: string): ChatSpan[] => [{ text, isOutside: false }];

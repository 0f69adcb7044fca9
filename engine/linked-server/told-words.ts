import { toPrintable } from '../core/base/text.ts';

/** What a machine or a workspace calls itself, as one line of text; `other` where nothing of it can be seen. */
export function cleanToldWords(text: string, longest: number, other: string): string {
  const line = toPrintable(text).replace(/\s+/g, ' ').trim().slice(0, longest);
  return /[^\p{Z}\p{C}\p{M}]/u.test(text) ? line : other;
}

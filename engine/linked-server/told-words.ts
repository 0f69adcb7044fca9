import { toPrintable } from '../core/base/text.ts';

/** Cleans a machine's or workspace's own name to one line of text; `other` if nothing of it is visible. */
export function cleanToldWords(text: string, longest: number, other: string): string {
  const line = toPrintable(text).replace(/\s+/g, ' ').trim().slice(0, longest);
  return /[^\p{Z}\p{C}\p{M}]/u.test(text) ? line : other;
}

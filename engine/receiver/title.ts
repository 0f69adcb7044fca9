import { stripVTControlCharacters } from 'node:util';

const LENGTH = 120;
// C0, DEL and C1, and the marks that reorder what a terminal shows.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A title for a prompt: its first line that says something, without control characters, at most 120 characters. */
export function titleOf(prompt: string): string {
  for (const line of prompt.slice(0, 8192).split(/[\r\n\u2028\u2029]+/, 64)) {
    const text = stripVTControlCharacters(line).replace(CONTROL, ' ').replace(/\s+/g, ' ').trim();
    if (text === '') continue;
    if (text.length <= LENGTH) return text;
    // By code points, so that no pair of surrogates is cut in two.
    return `${Array.from(text)
      .slice(0, LENGTH - 1)
      .join('')}…`;
  }
  return '(untitled)';
}

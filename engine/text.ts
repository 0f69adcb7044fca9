import { stripVTControlCharacters } from 'node:util';

/**
 * Text from outside, made safe for a terminal: no escape sequences, no control characters, nothing that changes the
 * direction of writing. Newlines stay only where `lines` is set.
 */
export function printable(text: string, { lines = false } = {}): string {
  const plain = stripVTControlCharacters(text).replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, '');
  return lines
    ? plain.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
    : plain.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

/** What JSON leaves as it is and a terminal would act upon: C1 and DEL, and the marks that change the direction of writing. */
const ACTS_ON_TERMINAL = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A value as JSON that is safe to show on a terminal: what would act upon one is written as `\uXXXX`, so that the value
 * is the same to whoever parses it.
 */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    ACTS_ON_TERMINAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * A message of several lines under a word such as `error: `. What it quotes may hold line breaks, so its further lines
 * are indented: none can pass for a line of our own.
 */
export const printableMessage = (text: string): string =>
  printable(text, { lines: true }).replace(/\n(?=\S)/g, '\n  ');

/**
 * The text in at most `width` cells, the last of them an ellipsis where something is missing. Never splits what a
 * reader sees as one character. `measured` is passed in because the library that knows wide characters is costly to load.
 */
export function cut(text: string, width: number, measured: (text: string) => number): string {
  if (measured(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += measured(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

const TITLE_LENGTH = 120;
// C0, DEL and C1, and the marks that reorder what a terminal shows.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A title for a prompt: its first line that says something, without control characters, at most 120 characters. */
export function titleOf(prompt: string): string {
  for (const line of prompt.slice(0, 8192).split(/[\r\n\u2028\u2029]+/, 64)) {
    const text = stripVTControlCharacters(line).replace(CONTROL, ' ').replace(/\s+/g, ' ').trim();
    if (text === '') continue;
    if (text.length <= TITLE_LENGTH) return text;
    // By code points, so that no pair of surrogates is cut in two.
    return `${Array.from(text)
      .slice(0, TITLE_LENGTH - 1)
      .join('')}…`;
  }
  return '(untitled)';
}

/** `45s`, `12m`, `3h`, `5d`: how long ago, or `-`. */
export function age(at: string | null, now: number = Date.now()): string {
  if (at === null) return '-';
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 100) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

const two = (part: number): string => String(part).padStart(2, '0');

/** Local time, to the second. */
export function localTime(at: string | null): string {
  if (at === null) return '-';
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/** A text as one word of a POSIX shell, whatever is in it. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

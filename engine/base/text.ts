import { stripVTControlCharacters } from 'node:util';

/**
 * Makes text from outside safe for a terminal: no escape sequences, no control characters, nothing that changes the
 * direction of writing. Newlines stay only where `lines` is set.
 */
export function toPrintable(text: string, { lines = false } = {}): string {
  const plain = stripVTControlCharacters(text).replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, '');
  return lines
    ? plain.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
    : plain.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

/**
 * Where a value holds half a character (a surrogate without its other half), as a path of keys; null where nothing does. JSON
 * can say such a text, and UTF-8 cannot: what is stored of it would be another text than the one that was checked.
 */
export function findHalfCharacter(value: unknown): string[] | null {
  // A list of its own and no recursion: a body from outside may be nested as deeply as it is long.
  const waiting: Place[] = [{ value, key: null, above: null }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { value: inner, key } = place;
    if ((typeof inner === 'string' && !inner.isWellFormed()) || key?.isWellFormed() === false)
      return buildPath(place);
    if (inner === null || typeof inner !== 'object') continue;
    for (const [name, each] of Object.entries(inner)) waiting.push({ value: each, key: name, above: place });
  }
  return null;
}

interface Place {
  value: unknown;
  /** Null for the whole. */
  key: string | null;
  above: Place | null;
}

function buildPath(place: Place): string[] {
  const path: string[] = [];
  for (let at: Place | null = place; at !== null; at = at.above)
    if (at.key !== null) path.unshift(at.key.toWellFormed());
  return path;
}

/** What JSON leaves as it is and a terminal would act upon: C1 and DEL, and the marks that change the direction of writing. */
const ACTS_ON_TERMINAL = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A value as JSON that is safe to show on a terminal: what would act upon one is written as `\uXXXX`, so that the value
 * is the same to whoever parses it.
 */
export const toPrintableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    ACTS_ON_TERMINAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * A message of several lines under a word such as `error: `. What it quotes may hold line breaks, so its further lines
 * are indented: none can pass for a line of our own.
 */
export const toPrintableMessage = (text: string): string =>
  toPrintable(text, { lines: true }).replace(/\n(?=\S)/g, '\n  ');

/**
 * Cuts a text to at most `width` cells, the last of them an ellipsis where something is missing. Never splits what a
 * reader sees as one character. `measured` is passed in because the library that knows wide characters is costly to
 * load.
 */
export function cutToWidth(text: string, width: number, measured: (text: string) => number): string {
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
export function makeTitle(prompt: string): string {
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
export const formatAge = (at: string | null, now: number = Date.now()): string =>
  formatElapsed(at === null ? null : Math.max(0, Math.round((now - Date.parse(at)) / 1000)));

/** `45s`, `12m`, `3h`, `5d`, or `-`. */
export function formatElapsed(seconds: number | null): string {
  if (seconds === null) return '-';
  if (seconds < 100) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

const padTwo = (part: number): string => String(part).padStart(2, '0');

/** Local time, to the second. */
export function formatLocalTime(at: string | null): string {
  if (at === null) return '-';
  const date = new Date(at);
  const day = [date.getFullYear(), padTwo(date.getMonth() + 1), padTwo(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(padTwo).join(':')}`;
}

/** Where a sentence names a time; what it quotes of others may hold one anywhere else. */
const TIME_IN_SENTENCE = /\b(until|since|at|on) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z)(?![\w-])/g;

/** A sentence of the engine for a screen: its times, which are UTC for agents and scripts, as local time. */
export const localizeTimes = (sentence: string): string =>
  sentence.replace(TIME_IN_SENTENCE, (_, word: string, at: string) => `${word} ${formatLocalTime(at)}`);

/** US dollars, with more digits below a cent: `$1.25`, `$0.0042`. */
export const formatDollars = (dollars: number): string =>
  `$${dollars.toFixed(dollars > 0 && dollars < 0.01 ? 4 : 2)}`;

/** Formats a count in at most five cells, up to a hundred million. */
export function formatTokenCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 99_950) return `${(count / 1000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return count < 99_950_000 ? `${(count / 1e6).toFixed(1)}M` : `${Math.round(count / 1e6)}M`;
}

/** A time that is left, in whole hours, one at least. */
export const formatHours = (ms: number): string => `${Math.max(1, Math.round(ms / 3600_000))} h`;

/** A number with its noun: `1 task`, `2 tasks`, `3 tries` where the plural is not made with an s. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** A text as one word of a POSIX shell, whatever is in it. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** In the order of their characters, the same everywhere. */
export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

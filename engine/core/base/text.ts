/** Most texts, which do not need the pattern below. */
const ALL_SEEN = /^[\t\n\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff]*$/;

/**
 * Replaces every character that is invisible to a reader or that a terminal interprets: controls, direction marks,
 * zero-width characters, and blanks that look like letters. This includes unassigned and private characters, whose
 * look is unknown. Emoji stay whole: their invisible characters belong to a visible one.
 */
function replaceUnseen(text: string, replace: (character: string) => string): string {
  if (ALL_SEEN.test(text)) return text;
  // Inside the function, so that no command pays for Unicode tables that it does not need.
  return text.replace(
    /([\p{Emoji}--[#*0-9]]\p{EMod}?\ufe0f?(?:\u200d[\p{Emoji}--[#*0-9]]\p{EMod}?\ufe0f?)*|[#*0-9]\ufe0f\u20e3)|[[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800\u2d7f\u{1107f}\u{13441}\u{13442}\u{16fe4}\u{1d159}]--[\t\n]]/gv,
    (character, emoji: string | undefined) => emoji ?? replace(character),
  );
}

/** Writes a character by its number, as programs do: `\x1b`, `\u200b`, `\u{e0041}`. */
function writeByNumber(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  const digits = number.toString(16);
  if (number < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return number < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}

/** Treats line breaks of Windows and of code hosts as line breaks. A carriage return anywhere else would overwrite its line. */
const unifyLineBreaks = (text: string): string => text.replaceAll('\r\n', '\n');

/**
 * Makes untrusted text safe for a terminal and its reader: each invisible character is written by its number, and
 * nothing is omitted. Newlines and tabs become blanks unless `lines` is set.
 */
export function toPrintable(text: string, { lines = false } = {}): string {
  const whole = unifyLineBreaks(text);
  return replaceUnseen(lines ? whole : whole.replace(/[\t\n]/g, ' '), writeByNumber);
}

/** Counts the invisible characters of a text, which `toPrintable` writes by their numbers. */
export function countUnseen(text: string): number {
  let count = 0;
  replaceUnseen(unifyLineBreaks(text), (character) => {
    count += 1;
    return character;
  });
  return count;
}

/** Warns a person who approves a text of invisible characters; null if there are none. */
export const describeUnseen = (count: number): string | null =>
  count === 0 ? null : `contains ${formatCount(count, 'invisible character')}`;

/** Colours, and the sequences for drawing progress. None of them contains words. */
const LOOKS = /\x1b\[(?:[\d;:]*m|[0-3]?[JK]|\?25[hl])/g;

/** Removes the styling of a text, for programs that search for words in it. */
export const dropColours = (text: string): string => text.replace(LOOKS, '');

/** Returns what a terminal would show of an overwritten line. A return at its end has not overwritten anything yet. */
export function keepLastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return end === 0 ? '' : line.slice(line.lastIndexOf('\r', end - 1) + 1);
}

/** Returns a log line as a terminal shows it, with svc's own times in local time. For progress only: nothing may be lost from a text that is approved or reviewed. */
export const renderLogLine = (line: string): string =>
  localizeTimes(toPrintable(dropColours(keepLastState(line).replace(/\r+$/, '')), { lines: true }));

/** Returns a log as a terminal shows it. */
export const renderLog = (text: string): string => text.split('\n').map(renderLogLine).join('\n');

/**
 * Returns the path of keys to an unpaired surrogate in a value; null if there is none. JSON can express such a text,
 * but UTF-8 cannot: the stored text would differ from the checked one.
 */
export function findHalfCharacter(value: unknown): string[] | null {
  // Uses a list instead of recursion: an untrusted body may be nested as deeply as it is long.
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

/**
 * Returns a value as JSON that is safe on a terminal: invisible and control characters are written as `\uXXXX`, so
 * that it parses to the same value.
 */
export const toPrintableJson = (value: unknown, indent?: number): string =>
  replaceUnseen(JSON.stringify(value, null, indent), (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/**
 * Formats a message of several lines after a prefix such as `error: `. Quoted text may contain line breaks, so
 * further lines are indented: none can pass for one of our lines.
 */
export const toPrintableMessage = (text: string): string =>
  toPrintable(text, { lines: true }).replace(/\n(?=\S)/g, '\n  ');

/**
 * Cuts a text to at most `width` cells, ending in an ellipsis if something is missing. Never splits a character as
 * the reader sees it. `measured` is passed in because the library for wide characters is costly to load.
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
/** Removes the marks of Markdown that mean nothing in a list: of headings, quotes, bold text, code and links. */
export const stripMarkdown = (line: string): string =>
  line
    .replace(/^\s*(?:#{1,6}|>)\s+/, '')
    .replace(/(\*\*)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/(`+)(?=\S)([^`]*[^`\s])\1(?!`)/g, '$2')
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '$1');

/** Returns a title for a prompt: its first line with content, safe for a terminal, at most 120 characters. */
export function makeTitle(prompt: string): string {
  for (const line of prompt.slice(0, 8192).split(/[\r\n\u2028\u2029]+/, 64)) {
    if (replaceUnseen(line, () => '').trim() === '') continue;
    // A byte order mark starts many files and has no meaning.
    const text = toPrintable(stripMarkdown(line.replace(/^\ufeff/, '')))
      .replace(/\s+/g, ' ')
      .trim();
    if (text.length <= TITLE_LENGTH) return text;
    // By code points, so that no surrogate pair is split.
    return `${Array.from(text)
      .slice(0, TITLE_LENGTH - 1)
      .join('')}…`;
  }
  return '(untitled)';
}

const SUBJECT_LENGTH = 72;

/** Returns the subject of a commit for the title of a task: one line of at most 72 characters. */
export function makeSubject(title: string): string {
  const text = toPrintable(title).replace(/\s+/g, ' ').trim();
  const characters = Array.from(text);
  if (characters.length <= SUBJECT_LENGTH) return text;
  const cut = characters.slice(0, SUBJECT_LENGTH - 1).join('');
  const blank = cut.lastIndexOf(' ');
  return `${blank > SUBJECT_LENGTH / 2 ? cut.slice(0, blank) : cut}…`;
}

/** Formats an age: `45s`, `12m`, `3h`, `5d`, or `-`. */
export const formatAge = (at: string | null, now: number = Date.now()): string =>
  formatElapsed(at === null ? null : Math.max(0, Math.round((now - Date.parse(at)) / 1000)));

/** Formats a duration: `45s`, `12m`, `3h`, `5d`, or `-`. */
export function formatElapsed(seconds: number | null): string {
  if (seconds === null) return '-';
  if (seconds < 100) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

const padTwo = (part: number): string => String(part).padStart(2, '0');

/** Formats local time, to the second. */
export function formatLocalTime(at: string | null): string {
  if (at === null) return '-';
  const date = new Date(at);
  const day = [date.getFullYear(), padTwo(date.getMonth() + 1), padTwo(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(padTwo).join(':')}`;
}

/** Formats a time in a time zone, to the minute, with its name: `2026-12-07 06:00 Europe/Berlin`. */
export const formatZonedTime = (at: string, zone: string): string =>
  `${new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(Date.parse(at))} ${zone}`;

/** Formats the local time to the minute, with the month and day unless it is today. */
export function formatClockTime(at: string, now: number = Date.now()): string {
  const text = formatLocalTime(at);
  const isToday = text.slice(0, 10) === formatLocalTime(new Date(now).toISOString()).slice(0, 10);
  return text.slice(isToday ? 11 : 5, 16);
}

/** Times that a sentence names; quoted text may contain times anywhere else. */
const TIME_IN_SENTENCE = /\b(until|since|at|on) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z)(?![\w-])/g;

/** Formats a sentence of the engine for a screen: its UTC times, meant for agents and scripts, become local time. */
export const localizeTimes = (sentence: string): string =>
  sentence.replace(TIME_IN_SENTENCE, (_, word: string, at: string) => `${word} ${formatClockTime(at)}`);

/** Formats US dollars, with more digits below a cent: `$1.25`, `$0.0042`. */
export const formatDollars = (dollars: number): string =>
  `$${dollars.toFixed(dollars > 0 && dollars < 0.01 ? 4 : 2)}`;

/** Marks a number that is an estimate. */
export const markEstimate = (text: string, isEstimate: boolean): string => (isEstimate ? `~${text}` : text);

/** Formats a cost: `~` marks an estimate, `+` that some of it has no known price, and `-` an unknown one. */
export function formatCost(
  dollars: number | null,
  { estimated, unpriced }: { estimated: boolean; unpriced: number },
): string {
  if (dollars === null) return '-';
  return `${markEstimate(formatDollars(dollars), estimated && dollars > 0)}${unpriced > 0 ? '+' : ''}`;
}

/** Formats a count in at most five cells, up to a hundred million. */
export function formatTokenCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 99_950) return `${(count / 1000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return count < 99_950_000 ? `${(count / 1e6).toFixed(1)}M` : `${Math.round(count / 1e6)}M`;
}

const GIB = 1024 ** 3;

/** Formats the size of a disk or memory: `1.5 GiB`, `120 GiB`, `unknown` for null. */
export const formatGib = (bytes: number | null): string =>
  bytes === null ? 'unknown' : `${(bytes / GIB).toFixed(bytes < 10 * GIB ? 1 : 0)} GiB`;

/** Formats remaining time in whole hours, at least one. */
export const formatHours = (ms: number): string => `${Math.max(1, Math.round(ms / 3600_000))} h`;

/** Formats a number with its noun: `1 task`, `2 tasks`, `3 tries` for an irregular plural. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Quotes any text as one word of a POSIX shell. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Compares by characters, the same everywhere. */
export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

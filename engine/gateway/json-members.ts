import { parseExactJson } from './exact-json.ts';

/** A member of the outermost object of a JSON text: start and end of its value, in bytes. */
export interface JsonMember {
  key: string;
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  while (isSpace(text[at])) at += 1;
  return at;
}

/** Parsers disagree about text after an object. */
const isOver = (text: Buffer, at: number): boolean => skipSpace(text, at) >= text.length;

/** Most strings are shorter; for longer ones the native search pays off. */
const SHORT = 48;

/** Returns the byte after the closing quote for an opening quote; -1 if there is none. */
function skipString(text: Buffer, from: number): number {
  const near = Math.min(text.length, from + SHORT);
  let at = from + 1;
  for (; at < near; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  for (;;) {
    const end = text.indexOf(QUOTE, at);
    if (end < 0) return -1;
    // A quote after an odd number of backslashes belongs to the text. Those before `at` were read in pairs.
    let first = end;
    while (first > at && text[first - 1] === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
    at = end + 1;
  }
}

/** Returns the byte after a value for its first byte; -1 if it does not end. */
function skipValue(text: Buffer, from: number): number {
  if (text[from] === QUOTE) return skipString(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      at = skipString(text, at) - 1;
      if (at < 0) return -1;
    } else if (byte === OPEN || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at;
  }
  return -1;
}

/**
 * Finds the members of a JSON object without parsing their values, so that a body of megabytes can be read and passed
 * on byte by byte. A repeated key is found each time. Null for a text that is visibly not an object.
 */
export function findJsonMembers(text: Buffer): JsonMember[] | null {
  const members: JsonMember[] = [];
  // A byte order mark is not JSON, but some clients send one.
  let at = skipSpace(text, text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? 3 : 0);
  if (text[at] !== OPEN) return null;
  at = skipSpace(text, at + 1);
  if (text[at] === CLOSE) return isOver(text, at + 1) ? members : null;
  for (;;) {
    if (text[at] !== QUOTE) return null;
    const keyEnd = skipString(text, at);
    if (keyEnd < 0) return null;
    const key = readJsonValue(text, { start: at, end: keyEnd });
    if (typeof key !== 'string') return null;
    at = skipSpace(text, keyEnd);
    if (text[at] !== COLON) return null;
    const start = skipSpace(text, at + 1);
    const end = skipValue(text, start);
    if (end <= start) return null;
    members.push({ key, start, end });
    at = skipSpace(text, end);
    if (text[at] === CLOSE) return isOver(text, at + 1) ? members : null;
    if (text[at] !== COMMA) return null;
    at = skipSpace(text, at + 1);
  }
}

/** Keys, roles and types are shorter. */
const SHORT_STRING = 40;

/** Returns a short string of JSON that needs no parser, since it has neither escapes nor other characters than ASCII; null for any other. */
function readPlainString(text: Buffer, start: number, end: number): string | null {
  if (text[start] !== QUOTE || end - start > SHORT_STRING) return null;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = text[at] as number;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH || byte === QUOTE) return null;
  }
  return text[end - 1] === QUOTE && end - start > 1 ? text.toString('latin1', start + 1, end - 1) : null;
}

/** Parses a part of a JSON text and rounds no number; returns undefined for a text that is not JSON. */
export function readJsonValue(text: Buffer, { start, end }: Pick<JsonMember, 'start' | 'end'>): unknown {
  const plain = readPlainString(text, start, end);
  if (plain !== null) return plain;
  try {
    return parseExactJson(text.toString('utf8', start, end));
  } catch {
    return undefined;
  }
}

/** Reads the member of an object with a key, of which the last one applies; undefined for none. */
export function readJsonMember(text: Buffer, members: readonly JsonMember[], key: string): unknown {
  const found = members.findLast((member) => member.key === key);
  return found === undefined ? undefined : readJsonValue(text, found);
}

/** The replacement for a part of a text. */
export interface JsonEdit {
  start: number;
  end: number;
  bytes: string;
}

/** Replaces parts of a text and keeps every other byte. `edits` are in the order of the text. */
export function replaceBytes(text: Buffer, edits: readonly JsonEdit[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, bytes } of edits) {
    parts.push(text.subarray(at, start), Buffer.from(bytes));
    at = end;
  }
  return Buffer.concat([...parts, text.subarray(at)]);
}

/**
 * Returns the strings of a JSON text from `from` on that are longer than the given number of bytes. `from` must be
 * outside strings.
 */
export function listLongStrings(
  text: Buffer,
  from: number,
  bytes: number,
): Pick<JsonMember, 'start' | 'end'>[] {
  const found: Pick<JsonMember, 'start' | 'end'>[] = [];
  for (let at = text.indexOf(QUOTE, from); at >= 0; at = text.indexOf(QUOTE, at)) {
    const end = skipString(text, at);
    if (end < 0) break;
    if (end - at > bytes) found.push({ start: at, end });
    at = end;
  }
  return found;
}

/** Returns the first element of a JSON list; null for an empty list or anything else. */
export function findFirstElement(
  text: Buffer,
  list: Pick<JsonMember, 'start'>,
): Pick<JsonMember, 'start' | 'end'> | null {
  if (text[list.start] !== OPEN_LIST) return null;
  const start = skipSpace(text, list.start + 1);
  const end = text[start] === CLOSE_LIST ? -1 : skipValue(text, start);
  return end < 0 ? null : { start, end };
}

/** Returns the elements of a JSON list in order; none for anything else or an incomplete list. */
export function listJsonElements(
  text: Buffer,
  list: Pick<JsonMember, 'start'>,
): Pick<JsonMember, 'start' | 'end'>[] {
  const found: Pick<JsonMember, 'start' | 'end'>[] = [];
  if (text[list.start] !== OPEN_LIST) return found;
  let at = skipSpace(text, list.start + 1);
  while (text[at] !== CLOSE_LIST) {
    const end = skipValue(text, at);
    if (end <= at) return [];
    found.push({ start: at, end });
    at = skipSpace(text, end);
    if (text[at] === COMMA) at = skipSpace(text, at + 1);
    else if (text[at] !== CLOSE_LIST) return [];
  }
  return found;
}

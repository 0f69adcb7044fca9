import { parseExactJson } from '../exact-json.ts';

/** A member of the outermost object of a JSON text: where its value begins and ends, in bytes. */
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

/** What follows an object would be read by some, and by others not. */
const isOver = (text: Buffer, at: number): boolean => skipSpace(text, at) >= text.length;

/** Most strings are shorter; the others are worth a call of the system's own search. */
const SHORT = 48;

/** From an opening quote to the byte after the closing one; -1 when there is none. */
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
    // A quote after an odd number of backslashes is part of the text. Those before `at` have been read in pairs.
    let first = end;
    while (first > at && text[first - 1] === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
    at = end + 1;
  }
}

/** From the first byte of a value to the byte after it; -1 when it does not end. */
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
 * Finds the members of a JSON object without parsing what is in them, so that a body of megabytes can be read and passed
 * on byte by byte. A key that is repeated is found each time. Null for a text that is no object, as far as that is seen.
 */
export function findJsonMembers(text: Buffer): JsonMember[] | null {
  const members: JsonMember[] = [];
  // A byte order mark is not JSON, and some clients send one.
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

/** What is to stand in the place of a part of a text. */
export interface JsonEdit {
  start: number;
  end: number;
  bytes: string;
}

/** Replaces parts of a text and leaves every other byte as it is. `edits` are in the order of the text. */
export function replaceBytes(text: Buffer, edits: readonly JsonEdit[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, bytes } of edits) {
    parts.push(text.subarray(at, start), Buffer.from(bytes));
    at = end;
  }
  return Buffer.concat([...parts, text.subarray(at)]);
}

/** The strings of a JSON text from there on that take more than so many bytes. `from` is no byte of a string. */
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

/** The first element of a JSON list; null for an empty one, and for what is no list. */
export function findFirstElement(
  text: Buffer,
  list: Pick<JsonMember, 'start'>,
): Pick<JsonMember, 'start' | 'end'> | null {
  if (text[list.start] !== OPEN_LIST) return null;
  const start = skipSpace(text, list.start + 1);
  const end = text[start] === CLOSE_LIST ? -1 : skipValue(text, start);
  return end < 0 ? null : { start, end };
}

/** The elements of a JSON list in their order; none of what is no list, or does not end. */
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

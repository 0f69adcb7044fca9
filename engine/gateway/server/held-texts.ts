import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { isJsonObject } from '../../core/base/json-object.ts';
import { isRawNumber, parseExactJson } from '../exact-json.ts';
import { type JsonMember, listLongStrings } from '../json-members.ts';
import type { Protocol } from '../protocol.ts';

/** A body that was parsed without its long texts. */
export interface HeldTexts {
  body: unknown;
  /** Writes the changed body as JSON, including the texts. */
  write(value: unknown): Buffer;
}

/** Shorter texts are parsed and written faster than they are held. */
const LONG_BYTES = 2048;
/** This part of a text stays in place: translations only inspect the start of a text and trailing space. */
const HEAD_BYTES = 128;

/** The placeholder for the rest of a text; nothing outside this process can produce it. */
const MARK = `held.${randomBytes(16).toString('hex')}.`;

/** The members of a protocol that hold conversation text. */
const SAID: Readonly<Record<Protocol, readonly string[]>> = {
  chat: ['messages'],
  responses: ['input'],
  messages: ['messages', 'system'],
  gemini: ['contents', 'systemInstruction', 'system_instruction'],
};

/** Members below these hold only conversation text, nothing that a translation must parse, such as call arguments. */
const FRAMES = new Set([
  'content',
  'parts',
  'source',
  'output',
  'image_url',
  'file',
  'input_audio',
  'inlineData',
  'inline_data',
]);
const TEXTS = new Set(['content', 'text', 'output', 'data']);
/** Members whose start determines their type. */
const ADDRESSES = new Set(['url', 'image_url', 'file_data']);
const HAS_CONTENT = /^data:[^,]*,/;

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const isInsideCharacter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Returns the position in a JSON string at which its head ends, between two characters. */
function findHeadEnd(text: Buffer, start: number): number {
  let at = start + 1;
  while (at < start + HEAD_BYTES) at += text[at] !== BACKSLASH ? 1 : text[at + 1] === LETTER_U ? 6 : 2;
  while (isInsideCharacter(text[at])) at += 1;
  return at;
}

const SPACE = 0x20;
const SPACE_LETTERS = Buffer.from('nrt');

/** Returns the position in a JSON string where its trailing space starts; `end` is its closing quote. */
function findTail(text: Buffer, from: number, end: number): number {
  let at = end;
  for (;;) {
    if (at > from && text[at - 1] === SPACE) at -= 1;
    else if (at - 1 > from && SPACE_LETTERS.includes(text[at - 1]!) && isEscaped(text, from, at - 1)) at -= 2;
    else return at;
  }
}

/** Reports whether an odd number of backslashes precedes a byte. */
function isEscaped(text: Buffer, from: number, at: number): boolean {
  let first = at;
  while (first > from && text[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** Reports whether a text can be passed on unchanged: a text that may contain an unpaired surrogate must be parsed. */
const isSound = (text: Buffer): boolean => isUtf8(text) && !text.includes('\\ud') && !text.includes('\\uD');

/**
 * Parses a body without its long texts, so that they cost neither time nor memory in a translation: their JSON bytes
 * are the same in every protocol. Only texts that translations pass on unchanged are held. Throws a `SyntaxError` for
 * invalid JSON.
 */
export function parseHoldingTexts(
  bytes: Buffer,
  { protocol, members }: { protocol: Protocol; members: readonly JsonMember[] },
): HeldTexts {
  const held: Buffer[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  const said = members.filter(({ key }) => SAID[protocol].includes(key));
  for (const { start: from, end: to } of said) {
    if (to - from < LONG_BYTES) continue;
    for (const { start, end } of listLongStrings(bytes.subarray(0, to), from, LONG_BYTES)) {
      const head = findHeadEnd(bytes, start);
      const tail = findTail(bytes, head, end - 1);
      const rest = bytes.subarray(head, tail);
      if (!isSound(rest)) continue;
      parts.push(bytes.subarray(at, head), Buffer.from(`${MARK}${held.length}.`));
      held.push(rest);
      at = tail;
    }
  }
  parts.push(bytes.subarray(at));
  const body: unknown = parseExactJson(
    Buffer.concat(parts)
      .toString('utf8')
      .replace(/^\uFEFF/, ''),
  );
  if (held.length === 0) return { body, write: (value) => Buffer.from(JSON.stringify(value)) };
  if (isJsonObject(body))
    for (const { key } of said) body[key] = restoreTexts(body[key], { key: 'content', held, isSaid: true });
  return { body, write: (value) => writeHeld(JSON.stringify(value), held) };
}

/** Restores texts that are not passed on unchanged. Modifies its argument. */
function restoreTexts(
  value: unknown,
  { key, held, isSaid }: { key: string; held: readonly Buffer[]; isSaid: boolean },
): unknown {
  if (typeof value === 'string') {
    const mark = value.indexOf(MARK);
    if (mark < 0 || (isSaid && mayStayHeld(key, value.slice(0, mark)))) return value;
    const from = mark + MARK.length;
    const to = value.indexOf('.', from);
    const rest = held[Number(value.slice(from, to))]!;
    return `${value.slice(0, mark)}${String(JSON.parse(`"${rest.toString('utf8')}"`))}${value.slice(to + 1)}`;
  }
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) value[index] = restoreTexts(each, { key, held, isSaid });
    return value;
  }
  if (!isJsonObject(value) || isRawNumber(value)) return value;
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== 'string' && (typeof each !== 'object' || each === null)) continue;
    const isText = typeof each === 'string' || FRAMES.has(name);
    value[name] = restoreTexts(each, { key: name, held, isSaid: isSaid && isText });
  }
  return value;
}

function mayStayHeld(key: string, head: string): boolean {
  if (ADDRESSES.has(key)) return HAS_CONTENT.test(head);
  // Some writers omit text that may be only space.
  return TEXTS.has(key) && head.trim() !== '';
}

/** Inserts the texts into JSON that contains the placeholders, byte by byte. */
function writeHeld(text: string, held: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (let mark = text.indexOf(MARK); mark >= 0; mark = text.indexOf(MARK, at)) {
    const from = mark + MARK.length;
    const to = text.indexOf('.', from);
    parts.push(Buffer.from(text.slice(at, mark)), held[Number(text.slice(from, to))]!);
    at = to + 1;
  }
  parts.push(Buffer.from(text.slice(at)));
  return Buffer.concat(parts);
}

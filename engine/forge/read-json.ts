import { SvcError } from '../core/base/errors.ts';
import { isJsonObject } from '../core/base/json-object.ts';
import { toPrintable } from '../core/base/text.ts';
import type { JsonObject } from '../core/http/body.ts';

const NONE: JsonObject = Object.freeze({});

/** Returns an object of an answer; an empty one for anything else. */
export const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : NONE);

/** Returns a text of an answer; an empty one for anything else. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns a positive whole number of an answer; null for anything else. */
export const asNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;

/** Returns a text of an answer for people and prompts, with its lines. */
export const asWords = (value: unknown): string => toPrintable(asText(value), { lines: true }).trim();

/** Lists the objects of a list; none for anything else. */
export const listRows = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** Lists the objects of an answer. Throws `program_failed` for anything but a list. */
export function requireRows(body: unknown, host: string): JsonObject[] {
  if (Array.isArray(body)) return listRows(body);
  throw new SvcError('program_failed', `${host} answered with something other than a list`);
}

/** Formats a time as RFC 3339 UTC, in seconds. */
export const formatTime = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** Returns a time of an answer as RFC 3339 UTC, in seconds; '' for anything else. */
export function asTime(value: unknown): string {
  const at = Date.parse(asText(value));
  return Number.isNaN(at) ? '' : formatTime(at);
}

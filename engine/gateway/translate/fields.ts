/** Readers for untrusted bodies: a field of the wrong type is treated as absent. */
import { isJsonObject } from '../../core/base/json-object.ts';
import { isRawNumber, parseExactJson } from '../exact-json.ts';

/** A JSON object with unknown fields. */
export type RequestFields = Readonly<Record<string, unknown>>;

const NO_FIELDS: RequestFields = {};

export const asFields = (value: unknown): RequestFields => (isJsonObject(value) ? value : NO_FIELDS);

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the objects of a list; other elements are skipped. */
export const asFieldsList = (value: unknown): readonly RequestFields[] => asList(value).filter(isJsonObject);

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the text, or null if it is missing or empty. */
export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

export function numberOrNull(value: unknown): number | null {
  const number = isRawNumber(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Returns the entry of a table for an untrusted key; undefined for none. */
export const lookUp = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** Returns a copy without undefined and null fields: unset fields are not sent. An object with deleted fields is slow. */
export function dropUnset(value: Record<string, unknown>): Record<string, unknown> {
  const set: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field !== undefined && field !== null) set[key] = field;
  }
  return set;
}

/** Parses JSON, exactly unless numbers do not matter; undefined for invalid text. */
export function parseJson(text: string, { isExact = true }: { isExact?: boolean } = {}): unknown {
  try {
    return isExact ? parseExactJson(text) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

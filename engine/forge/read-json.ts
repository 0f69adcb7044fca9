import { isJsonObject } from '../core/base/json-object.ts';
import type { JsonObject } from '../core/http/body.ts';

const NONE: JsonObject = Object.freeze({});

/** Returns an object of an answer; an empty one for anything else. */
export const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : NONE);

/** Returns a text of an answer; an empty one for anything else. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Lists the objects of a list; none for anything else. */
export const listRows = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

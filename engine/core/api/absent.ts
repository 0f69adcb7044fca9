import type { z } from 'zod';
import { isJsonObject } from '../base/json-object.ts';

/** The nested parts of a schema's definition (zod 4, `_zod.def`). */
interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  shape?: Readonly<Record<string, z.ZodType>>;
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

const MAY_BE_ABSENT = new Set(['optional', 'default', 'prefault']);

const isBlank = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value.trim() === '');

/**
 * Returns the input without empty optional fields: null, an empty text, or an object of only those. Agents fill in
 * every field of a schema, so all three mean that the field is omitted. Required fields stay, and are refused if they
 * must not be empty.
 */
export function withoutBlanks(schema: z.ZodType, input: unknown): unknown {
  const { type, innerType, in: source, element, shape } = definitionOf(schema);
  const inner = innerType ?? (type === 'pipe' ? source : undefined);
  if (inner !== undefined) return withoutBlanks(inner, input);
  if (element !== undefined && Array.isArray(input)) return input.map((each) => withoutBlanks(element, each));
  if (shape === undefined || !isJsonObject(input)) return input;
  const kept = Object.entries(input).flatMap(([key, value]) => {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field === undefined) return [[key, value] as const];
    const given = withoutBlanks(field, value);
    const isEmptied =
      isJsonObject(given) && Object.keys(given).length === 0 && Object.keys(value as object).length > 0;
    return MAY_BE_ABSENT.has(definitionOf(field).type) && (isBlank(given) || isEmptied)
      ? []
      : [[key, given] as const];
  });
  return Object.fromEntries(kept);
}

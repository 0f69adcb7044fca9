import type { z } from 'zod';
import { isJsonObject } from '../base/json-object.ts';

/** The parts of a schema's definition that say what it is made of (zod 4, `_zod.def`). */
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
 * The input without its optional fields that hold nothing: null, an empty text, or an object of nothing but those.
 * Agents fill in whatever a schema names, so that all three mean what leaving the field out means. Required fields stay
 * as they are, and are refused where they have to say something.
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

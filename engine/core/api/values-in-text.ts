import type { z } from 'zod';
import { isJsonObject } from '../base/json-object.ts';

/** The nested parts of a schema's definition (zod 4, `_zod.def`). */
interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
  shape?: Readonly<Record<string, z.ZodType>>;
  entries?: Readonly<Record<string, string | number>>;
  values?: readonly unknown[];
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

type Kind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

const kindOf = (value: unknown): Kind =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as Kind);

/** The kinds of JSON values that each schema type accepts. Other types check the value themselves. */
const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  string: ['string'],
  template_literal: ['string'],
  number: ['number'],
  int: ['number'],
  boolean: ['boolean'],
  null: ['null'],
  array: ['array'],
  object: ['object'],
  record: ['object'],
};

/** Reports whether a schema accepts values of a kind, ignoring its other rules. */
function takesKind(schema: z.ZodType, kind: Kind): boolean {
  const { type, innerType, in: source, options, entries, values } = definitionOf(schema);
  // An optional field may be null too: an agent that fills in every field means the same by both.
  if (kind === 'null' && ['nullable', 'optional', 'default', 'prefault'].includes(type)) return true;
  const inner = innerType ?? source;
  if (inner !== undefined) return takesKind(inner, kind);
  if (options !== undefined) return options.some((each) => takesKind(each, kind));
  if (entries !== undefined) return Object.values(entries).some((each) => kindOf(each) === kind);
  if (values !== undefined) return values.some((each) => kindOf(each) === kind);
  return KINDS[type]?.includes(kind) ?? true;
}

/** Returns the schema of a list or an object inside any wrapper; null for a union and anything else. */
function findParts(schema: z.ZodType): Definition | null {
  const definition = definitionOf(schema);
  const { innerType, in: source, options } = definition;
  const inner = innerType ?? source;
  if (inner !== undefined) return findParts(inner);
  return options === undefined ? definition : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a text if the schema accepts none: as JSON of the expected kind, or as the only entry of a list of texts. */
function readTextValue(schema: z.ZodType, text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined && typeof value !== 'string' && takesKind(schema, kindOf(value)))
    return readValuesInText(schema, value);
  const element = findParts(schema)?.element;
  // An empty text means that the field is omitted.
  return element !== undefined && text.trim() !== '' && takesKind(element, 'string') ? [text] : text;
}

/**
 * Reads values that were sent as text, such as `"5"`, `"true"` and `"[\"a\"]"`: some clients send every value this
 * way, and a refused agent repeats the call. A value whose kind the schema accepts stays unchanged, valid or not.
 */
export function readValuesInText(schema: z.ZodType, input: unknown): unknown {
  if (typeof input === 'string') return takesKind(schema, 'string') ? input : readTextValue(schema, input);
  const parts = findParts(schema);
  if (parts === null) return readChoice(schema, input);
  const { element, shape, valueType } = parts;
  if (element !== undefined && Array.isArray(input))
    return input.map((each) => readValuesInText(element, each));
  if (!isJsonObject(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      const field = shape !== undefined && Object.hasOwn(shape, key) ? shape[key] : valueType;
      return [key, field === undefined ? value : readValuesInText(field, value)];
    }),
  );
}

/** Reads a value for the first of several schemas that accepts it, if none accepts it unchanged. */
function readChoice(schema: z.ZodType, input: unknown): unknown {
  if (schema.safeParse(input).success) return input;
  for (const option of listOptions(schema)) {
    const read = readValuesInText(option, input);
    if (option.safeParse(read).success) return read;
  }
  return input;
}

function listOptions(schema: z.ZodType): readonly z.ZodType[] {
  const { innerType, in: source, options } = definitionOf(schema);
  const inner = innerType ?? source;
  return options ?? (inner === undefined ? [] : listOptions(inner));
}

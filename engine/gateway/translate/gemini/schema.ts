import { isJsonObject } from '../../../core/base/json-object.ts';
import { asList, type RequestFields } from '../fields.ts';

/** Fields of Google's schemas that contain a schema, a list of schemas, or named schemas. */
const ONE = new Set(['items', 'additionalProperties', 'not']);
const MANY = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const NAMED = new Set(['properties', '$defs', 'defs']);

/** Counts, which Google's 64-bit integers encode as text in JSON. */
const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Fields that JSON Schema does not know. */
const OWN = new Set(['nullable', 'propertyOrdering', 'property_ordering', 'example']);

function convertField(key: string, value: unknown): unknown {
  if (ONE.has(key)) return isJsonObject(value) ? toJsonSchema(value) : value;
  if (MANY.has(key)) return asList(value).map((each) => (isJsonObject(each) ? toJsonSchema(each) : each));
  if (NAMED.has(key) && isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, isJsonObject(each) ? toJsonSchema(each) : each]),
    );
  if (key === 'type' && typeof value === 'string') return value.toLowerCase();
  return COUNTS.has(key) && typeof value === 'string' ? Number(value) : value;
}

/** Converts one of Google's schemas, with types in capitals, to JSON Schema. */
export function toJsonSchema(schema: RequestFields): RequestFields {
  const fields = Object.entries(schema).filter(([key]) => !OWN.has(key));
  const converted: Record<string, unknown> = {};
  for (const [key, value] of fields)
    if (!(key === 'type' && value === 'TYPE_UNSPECIFIED')) converted[key] = convertField(key, value);
  if (schema.nullable === true && typeof converted.type === 'string')
    converted.type = [converted.type, 'null'];
  return converted;
}

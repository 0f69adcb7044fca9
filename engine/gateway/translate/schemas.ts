/** Schemas of tools and answers, as each provider requires them. */
import { isJsonObject } from '../../core/base/json-object.ts';
import { asFieldsList, asList, type RequestFields } from './fields.ts';

/** Fields of a JSON Schema that contain a schema, a list of schemas, or named schemas. */
const ONE = ['items', 'additionalProperties', 'not'];
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', '$defs', 'definitions', 'patternProperties'];

/** Applies a change to each nested schema, then to the schema itself. */
function mapSchema(schema: RequestFields, change: (schema: RequestFields) => RequestFields): RequestFields {
  const mapped: Record<string, unknown> = { ...schema };
  const map = (value: unknown): unknown => (isJsonObject(value) ? mapSchema(value, change) : value);
  for (const [key, value] of Object.entries(schema)) {
    if (ONE.includes(key)) mapped[key] = map(value);
    else if (MANY.includes(key) && Array.isArray(value)) mapped[key] = value.map(map);
    else if (NAMED.includes(key) && isJsonObject(value))
      mapped[key] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each)]));
  }
  return change(mapped);
}

const isObjectSchema = ({ type, properties }: RequestFields): boolean =>
  type === 'object' || asList(type).includes('object') || isJsonObject(properties);

function everyObject(schema: RequestFields, holds: (schema: RequestFields) => boolean): boolean {
  let all = true;
  mapSchema(schema, (each) => {
    all &&= !isObjectSchema(each) || holds(each);
    return each;
  });
  return all;
}

/** Reports whether no object of the schema allows additional properties. */
export const isClosable = (schema: RequestFields): boolean =>
  everyObject(schema, ({ additionalProperties: more }) => more === undefined || more === false);

/** Reports whether every property is required, as in OpenAI's strict schemas. */
export const isAllRequired = (schema: RequestFields): boolean =>
  isClosable(schema) &&
  everyObject(schema, ({ properties, required }) =>
    Object.keys(isJsonObject(properties) ? properties : {}).every((name) => asList(required).includes(name)),
  );

/** Returns the schema with `additionalProperties: false` in each object without a schema for others. */
export const closeObjects = (schema: RequestFields): RequestFields =>
  mapSchema(schema, (each) =>
    isObjectSchema(each) && !isJsonObject(each.additionalProperties)
      ? { ...each, additionalProperties: false }
      : each,
  );

/** Keywords that Anthropic's structured answers refuse. */
const REFUSED = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
]);

/** Returns the schema as Anthropic accepts it for a strict tool or an answer: closed, without limits for numbers and lengths. */
export const fitAnthropicSchema = (schema: RequestFields): RequestFields =>
  mapSchema(closeObjects(schema), (each) =>
    Object.fromEntries(
      Object.entries(each).filter(([key, value]) =>
        key === 'minItems' ? Number(value) <= 1 : !REFUSED.has(key) || isJsonObject(value),
      ),
    ),
  );

/** The schema of a tool without arguments. */
const NO_ARGUMENTS: RequestFields = { type: 'object', properties: {} };

/** Returns one object that replaces several alternative or combined ones; no provider accepts those for a tool. */
function mergeObjects(schema: RequestFields): RequestFields {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const choices = [...asFieldsList(anyOf), ...asFieldsList(oneOf)];
  const parts = asFieldsList(allOf);
  if (choices.length + parts.length === 0) return schema;
  const requiredIn = ({ required }: RequestFields): unknown[] => [...asList(required)];
  const common = choices
    .map(requiredIn)
    .reduce<unknown[] | null>(
      (before, names) => (before === null ? names : before.filter((name) => names.includes(name))),
      null,
    );
  const required = new Set([...requiredIn(schema), ...parts.flatMap(requiredIn), ...(common ?? [])]);
  const properties = Object.assign(
    {},
    ...[...choices, ...parts, schema].map((each) => (isJsonObject(each.properties) ? each.properties : {})),
  );
  return { ...rest, type: 'object', properties, ...(required.size === 0 ? {} : { required: [...required] }) };
}

/** Returns the schema of a tool's arguments: one object, even without properties. */
export const fitToolSchema = (schema: object | null): RequestFields => ({
  ...NO_ARGUMENTS,
  ...mergeObjects((schema ?? {}) as RequestFields),
});

import { isJsonObject } from '../../core/base/json-object.ts';
import { readJsonValue } from '../json-members.ts';
import type { Protocol } from '../protocol.ts';
import type { GatewayCall } from './call.ts';

const TEXT =
  'This is a stub answer of the svc gateway: no model was called. For real answers set ai.mode to live, and a provider in ai.providers.';

type Schema = Readonly<Record<string, unknown>>;

/** The member that sets the format of the answer. */
const MEMBERS: Readonly<Record<Protocol, readonly string[]>> = {
  chat: ['response_format'],
  responses: ['text'],
  messages: ['output_config', 'output_format'],
  gemini: ['generationConfig', 'generation_config'],
};

const asSchema = (value: unknown): Schema => (isJsonObject(value) ? value : {});

/** Returns the schema in such a member; null for plain text. */
function findSchema(protocol: Protocol, member: Schema): Schema | null {
  if (protocol === 'gemini') {
    const schema = member.responseJsonSchema ?? member.responseSchema;
    if (isJsonObject(schema)) return schema;
    return member.responseMimeType === 'application/json' ? {} : null;
  }
  const format = isJsonObject(member.format) ? member.format : member;
  if (format.type === 'json_object') return {};
  return format.type === 'json_schema' ? asSchema(asSchema(format.json_schema ?? format).schema) : null;
}

const MOST_ITEMS = 16;
const MOST_DEPTH = 32;

/** Returns the smallest value that matches a schema: programs retry endlessly if they get anything else. */
function buildExample(schema: Schema, depth = 0): unknown {
  if (depth > MOST_DEPTH) return null;
  const build = (value: unknown): unknown => buildExample(asSchema(value), depth + 1);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  for (const choice of [schema.anyOf, schema.oneOf, schema.allOf])
    if (Array.isArray(choice) && choice.length > 0) return build(choice[0]);
  const [type = ''] = [schema.type].flat();
  const least = typeof schema.minimum === 'number' ? schema.minimum : 0;
  switch (String(type).toLowerCase()) {
    case 'string':
      return TEXT;
    case 'boolean':
      return false;
    case 'number':
      return least;
    case 'integer':
      return Math.ceil(least);
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.min(Number(schema.minItems) || 0, MOST_ITEMS) }, () =>
        build(schema.items),
      );
    default:
      return isJsonObject(schema.properties)
        ? Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, build(each)]))
        : { stub: TEXT };
  }
}

/** Returns the stub's text: a notice that it is a stub, or JSON in the requested format. */
export function buildStubText({
  body,
  members,
  route,
}: Pick<GatewayCall, 'body' | 'members' | 'route'>): string {
  for (const name of MEMBERS[route.protocol]) {
    const member = members.findLast(({ key }) => key === name);
    const value = member === undefined ? null : readJsonValue(body, member);
    const schema = isJsonObject(value) ? findSchema(route.protocol, value) : null;
    if (schema !== null) return JSON.stringify(buildExample(schema));
  }
  return TEXT;
}

import { isJsonObject } from '../../../core/base/json-object.ts';
import type { AnswerFormat, ToolDefinition } from '../conversation.ts';
import { type RequestFields, textOrNull } from '../fields.ts';
import { closeObjects, fitToolSchema, isAllRequired } from '../schemas.ts';

/** Reads `response_format` of chat or `text.format` of responses, which differ in the place of the schema. */
export function readAnswerFormat(
  value: unknown,
  detailsOf: (format: RequestFields) => RequestFields,
): AnswerFormat | null {
  if (!isJsonObject(value)) return null;
  if (value.type === 'json_object') return { kind: 'json' };
  if (value.type !== 'json_schema') return null;
  const { name, description, schema, strict } = detailsOf(value);
  return {
    kind: 'schema',
    name: textOrNull(name),
    description: textOrNull(description),
    schema: isJsonObject(schema) ? schema : {},
    isStrict: typeof strict === 'boolean' ? strict : null,
  };
}

/**
 * Returns a schema with its `strict`. A strict schema must require every property and allow no others; otherwise
 * OpenAI would refuse the request.
 */
function fitStrictness(
  schema: RequestFields,
  isStrict: boolean | null,
): { schema: RequestFields; strict: boolean } {
  const strict = isStrict === true && isAllRequired(schema);
  return { schema: strict ? closeObjects(schema) : schema, strict };
}

/** Returns the schema of a tool's arguments. Responses treat a missing `strict` as true, unlike any other protocol. */
export function describeParameters({ schema: given, isStrict }: ToolDefinition): {
  parameters: RequestFields;
  strict: boolean;
} {
  const { schema, strict } = fitStrictness(fitToolSchema(given), isStrict);
  return { parameters: schema, strict };
}

/** Returns the schema of an answer with the name that OpenAI's protocols require. */
export const describeSchema = (format: AnswerFormat & { kind: 'schema' }): Record<string, unknown> => ({
  name: format.name ?? 'answer',
  ...(format.description === null ? {} : { description: format.description }),
  ...(format.isStrict === null
    ? { schema: format.schema }
    : fitStrictness(format.schema as RequestFields, format.isStrict)),
});

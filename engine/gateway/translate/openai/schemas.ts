import { isJsonObject } from '../../../core/base/json-object.ts';
import type { AnswerFormat, ToolDefinition } from '../conversation.ts';
import { type Fields, textOrNull } from '../fields.ts';
import { closeObjects, fitToolSchema, isAllRequired } from '../schemas.ts';

/** Reads `response_format` of chat or `text.format` of responses, which differ in where the schema is. */
export function readAnswerFormat(value: unknown, detailsOf: (format: Fields) => Fields): AnswerFormat | null {
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
 * A schema with its `strict`. A strict one has to require every property, and to allow no other; where it does not, OpenAI would refuse
 * the request.
 */
function fitStrictness(schema: Fields, isStrict: boolean | null): { schema: Fields; strict: boolean } {
  const strict = isStrict === true && isAllRequired(schema);
  return { schema: strict ? closeObjects(schema) : schema, strict };
}

/** The schema of a tool's arguments. Responses take a missing `strict` for true, which no other protocol does. */
export function describeParameters({ schema: given, isStrict }: ToolDefinition): {
  parameters: Fields;
  strict: boolean;
} {
  const { schema, strict } = fitStrictness(fitToolSchema(given), isStrict);
  return { parameters: schema, strict };
}

/** The schema of an answer with the name that OpenAI's protocols want. */
export const describeSchema = (format: AnswerFormat & { kind: 'schema' }): Record<string, unknown> => ({
  name: format.name ?? 'answer',
  ...(format.description === null ? {} : { description: format.description }),
  ...(format.isStrict === null
    ? { schema: format.schema }
    : fitStrictness(format.schema as Fields, format.isStrict)),
});

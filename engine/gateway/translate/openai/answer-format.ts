import { isJsonObject } from '../../../base/json-object.ts';
import type { AnswerFormat } from '../conversation.ts';
import { type Fields, textOrNull } from '../fields.ts';

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

/** The schema of an answer with the name that OpenAI's protocols want. */
export const describeSchema = (format: AnswerFormat & { kind: 'schema' }): Record<string, unknown> => ({
  name: format.name ?? 'answer',
  ...(format.description === null ? {} : { description: format.description }),
  schema: format.schema,
  ...(format.isStrict === null ? {} : { strict: format.isStrict }),
});

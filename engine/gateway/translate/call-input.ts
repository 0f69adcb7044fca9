import { isJsonObject } from '../../core/base/json-object.ts';
import type { CallPart } from './conversation.ts';
import { parseJson } from './fields.ts';

/** The field for the text of a text tool, in protocols that only know objects. */
export const TEXT_FIELD = 'input';

/** JSON Schema of a text tool, for protocols that only know objects. */
export const TEXT_SCHEMA = {
  type: 'object',
  properties: { [TEXT_FIELD]: { type: 'string' } },
  required: [TEXT_FIELD],
  additionalProperties: false,
} as const;

/** Wraps arguments that are not a JSON object in one: the model wrote them, and the conversation must continue. */
const UNREADABLE_FIELD = 'unreadable_arguments';

/** Returns the arguments of a call as JSON text; `{}` if there are none. */
export function formatArguments({ input, takesText }: Pick<CallPart, 'input' | 'takesText'>): string {
  if (typeof input !== 'string') return JSON.stringify(input);
  if (takesText) return JSON.stringify({ [TEXT_FIELD]: input });
  return input.trim() === '' ? '{}' : input;
}

/** Returns the arguments of a call as an object; null if the text is not a JSON object. */
export function parseArguments({ input, takesText }: Pick<CallPart, 'input' | 'takesText'>): object | null {
  if (typeof input !== 'string') return input;
  if (takesText) return { [TEXT_FIELD]: input };
  if (input.trim() === '') return {};
  const value = parseJson(input);
  return isJsonObject(value) ? value : null;
}

/** Does the same as `parseArguments`, for past calls, which can no longer be refused. */
export const readArguments = (call: Pick<CallPart, 'input' | 'takesText'>): object =>
  parseArguments(call) ?? { [UNREADABLE_FIELD]: call.input };

/** Returns the text in arguments that a model wrote for a text tool. */
export function unwrapText(input: string | object): string {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (typeof value === 'string') return value;
  const text = isJsonObject(value) ? value[TEXT_FIELD] : undefined;
  if (typeof text === 'string') return text;
  return typeof input === 'string' ? input : JSON.stringify(input);
}

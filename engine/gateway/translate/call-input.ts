import { isJsonObject } from '../../core/base/json-object.ts';
import type { CallPart } from './conversation.ts';
import { parseJson } from './fields.ts';

/** The field that carries the one text of a tool which takes a text, where a protocol knows only objects. */
export const TEXT_FIELD = 'input';

/** JSON Schema of a tool that takes one text, where a protocol knows only objects. */
export const TEXT_SCHEMA = {
  type: 'object',
  properties: { [TEXT_FIELD]: { type: 'string' } },
  required: [TEXT_FIELD],
  additionalProperties: false,
} as const;

/** Arguments that are no JSON object, as an object: the model wrote them, and the conversation has to go on. */
const UNREADABLE_FIELD = 'unreadable_arguments';

/** The arguments of a call as JSON text; `{}` where there are none. */
export function formatArguments({ input, takesText }: Pick<CallPart, 'input' | 'takesText'>): string {
  if (typeof input !== 'string') return JSON.stringify(input);
  if (takesText) return JSON.stringify({ [TEXT_FIELD]: input });
  return input.trim() === '' ? '{}' : input;
}

/** The arguments of a call as an object; null where its text is no JSON object. */
export function parseArguments({ input, takesText }: Pick<CallPart, 'input' | 'takesText'>): object | null {
  if (typeof input !== 'string') return input;
  if (takesText) return { [TEXT_FIELD]: input };
  if (input.trim() === '') return {};
  const value = parseJson(input);
  return isJsonObject(value) ? value : null;
}

/** As `parseArguments`, for calls of the past, which cannot be refused any more. */
export const readArguments = (call: Pick<CallPart, 'input' | 'takesText'>): object =>
  parseArguments(call) ?? { [UNREADABLE_FIELD]: call.input };

/** The one text in arguments that a model wrote for a tool which takes a text. */
export function unwrapText(input: string | object): string {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (typeof value === 'string') return value;
  const text = isJsonObject(value) ? value[TEXT_FIELD] : undefined;
  if (typeof text === 'string') return text;
  return typeof input === 'string' ? input : JSON.stringify(input);
}

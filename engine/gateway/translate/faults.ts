/** Errors, read from any provider body. */
import { isJsonObject } from '../../core/base/json-object.ts';
import { CONTEXT_CODE, type ProviderFault, STATUS_WORDS } from '../protocols/fault.ts';
import { asFields, numberOrNull, type RequestFields, textOrNull } from './fields.ts';

/** Error names inside a stream, with the HTTP status they would have had. */
const STATUS_OF_WORD = new Map<string, number>([
  ['rate_limit_exceeded', 429],
  ['context_length_exceeded', 400],
  ['invalid_prompt', 400],
  ['invalid_api_key', 401],
  ['model_not_found', 404],
  ...Object.entries(STATUS_WORDS).flatMap(([status, { openai, messages, gemini }]) =>
    [openai, messages, gemini].map((word): [string, number] => [word, Number(status)]),
  ),
  // Several statuses share these names; the usual one comes last.
  ['invalid_request_error', 400],
  ['INVALID_ARGUMENT', 400],
  ['server_error', 500],
  ['api_error', 500],
  ['UNAVAILABLE', 503],
  ['timeout_error', 504],
  ['DEADLINE_EXCEEDED', 504],
]);

/** Phrases for a prompt that is too long; none of them concerns only the limit of an answer. */
const TOO_LONG = new RegExp(
  [
    'context.{0,20}(?:length|window|limit)',
    'maximum.{0,20}(?:context|prompt length|model length)',
    '(?:prompt|input|request|message)s?\\b.{0,20}\\btoo (?:long|large)\\b(?!.{0,20}bytes)',
    '(?:input|prompt) token count.{0,40}exceeds',
    // llama.cpp
    'exceeds? the available context size',
    // Kimi
    'exceeded model token limit',
    // GLM
    '(?:prompt|input) exceeds max length',
    'prompt \u8d85\u957f',
    // DashScope
    'range of input length should be',
    'input length.{0,40}exceed',
    // text-generation-inference
    '`inputs`.{0,60}(?:must have less than|must be <=)',
    'too many tokens:? (?:total|in the prompt)',
    'longer than the (?:maximum )?model',
  ].join('|'),
  'i',
);

/** Servers' own codes for it, in any field. */
const TOO_LONG_WORDS = new Set<string>([
  CONTEXT_CODE,
  'exceed_context_size_error',
  'context_length_exceeded_error',
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
  // GLM
  '1261',
]);

/** Statuses of an invalid request; some servers use 500 for it. */
const TOO_LONG_STATUSES = [400, 413, 422, 500];

const LONGEST_MESSAGE = 2000;

function messageIn(error: RequestFields): string | null {
  const { message, detail, msg } = error;
  // A list of errors per field, as web frameworks return it.
  const list = Array.isArray(detail) ? JSON.stringify(detail) : null;
  return textOrNull(message) ?? textOrNull(detail) ?? list ?? textOrNull(msg) ?? textOrNull(error.error);
}

const wordsOf = ({ code, type, status }: RequestFields): string[] =>
  [code, type, status].flatMap((word) => textOrNull(word) ?? []);

/**
 * Reads the error in a body of any of the protocols.
 * @param status - the HTTP status; null inside a stream, where the error's own name determines it
 * @param body - parsed JSON, or text such as a proxy's HTML page, which is not repeated
 */
export function readFault(status: number | null, body: unknown): ProviderFault {
  const outer = asFields(Array.isArray(body) ? body[0] : body);
  // A failed response nests it one level deeper.
  const error = [outer.error, asFields(outer.response).error, outer].find(isJsonObject) ?? {};
  const words = wordsOf(error);
  const numeric = [numberOrNull(error.code), numberOrNull(error.status)].find(
    (each) => each !== null && each >= 400,
  );
  const known = words.map((word) => STATUS_OF_WORD.get(word)).find((each) => each !== undefined);
  const settled = status ?? numeric ?? known ?? 500;
  const plain = typeof body === 'string' && !/<[a-z!]/i.test(body) ? textOrNull(body.trim()) : null;
  const message = (
    messageIn(error) ??
    messageIn(outer) ??
    plain ??
    `the provider answered with status ${settled}`
  )
    .slice(0, LONGEST_MESSAGE)
    .toWellFormed();
  const code = textOrNull(error.code);
  const isTooLong =
    words.some((word) => TOO_LONG_WORDS.has(word)) ||
    (TOO_LONG_STATUSES.includes(settled) && TOO_LONG.test(message));
  return { status: settled, message, code: isTooLong ? CONTEXT_CODE : code, field: textOrNull(error.param) };
}

/** Returns the code of a failed response, by which codex decides whether to retry. */
export const responsesCode = ({ code, status }: ProviderFault): string => {
  if (code !== null) return code;
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 500 ? 'server_error' : 'invalid_prompt';
};

/** Returns the fault of a stream that was cut off. */
export const cutFault = (): ProviderFault => ({
  status: 502,
  message: 'the stream of the provider was cut off before its end',
  code: null,
  field: null,
});

/** Returns the fault of an unreadable event. */
export const brokenFault = (): ProviderFault => ({
  status: 502,
  message: 'the provider sent an event that is not JSON',
  code: null,
  field: null,
});

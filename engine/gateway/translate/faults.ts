/** Errors: read from whatever a provider sent, written in the caller's own shape. */
import { isJsonObject } from '../../base/json-object.ts';
import type { Protocol } from '../protocol.ts';
import type { Fault } from './conversation.ts';
import { asFields, type Fields, numberOrNull, textOrNull } from './fields.ts';

const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

const GEMINI_STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
};

/** What errors inside a stream call themselves, as the HTTP status they would have had. */
const STATUS_OF_WORD = new Map<string, number>([
  ['overloaded_error', 529],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['context_length_exceeded', 400],
  ['invalid_prompt', 400],
  ['invalid_api_key', 401],
  ['model_not_found', 404],
  ['server_error', 500],
  ...Object.entries(MESSAGES_TYPES).map(([status, type]) => [type, Number(status)] as const),
  ...Object.entries(OPENAI_TYPES).map(([status, type]) => [type, Number(status)] as const),
  ...Object.entries(GEMINI_STATUSES).map(([status, word]) => [word, Number(status)] as const),
  // Several statuses have these words; the usual one goes last.
  ['INVALID_ARGUMENT', 400],
  ['UNAVAILABLE', 503],
  ['overloaded_error', 529],
]);

const TOO_LONG =
  /prompt is too long|context.{0,20}(?:length|window)|maximum.{0,20}context|input token count.{0,40}exceeds/i;

/** The code by which clients recognise a prompt that the model cannot hold, and shorten it. */
const CONTEXT_CODE = 'context_length_exceeded';

const LONGEST_MESSAGE = 2000;

function messageIn(error: Fields): string | null {
  const { message, detail, msg } = error;
  return textOrNull(message) ?? textOrNull(detail) ?? textOrNull(msg) ?? textOrNull(error.error);
}

const wordsOf = ({ code, type, status }: Fields): string[] =>
  [code, type, status].flatMap((word) => textOrNull(word) ?? []);

/**
 * Reads the error in a body of any of the protocols.
 * @param status - the HTTP status; null inside a stream, where the error's own words stand for it
 * @param body - parsed JSON, or text such as a proxy's page of HTML, which is not repeated
 */
export function readFault(status: number | null, body: unknown): Fault {
  const outer = asFields(Array.isArray(body) ? body[0] : body);
  // A failed response has it one level deeper.
  const error = [outer.error, asFields(outer.response).error, outer].find(isJsonObject) ?? {};
  const words = wordsOf(error);
  const numeric = [numberOrNull(error.code), numberOrNull(error.status)].find(
    (each) => each !== null && each >= 400,
  );
  const known = words.map((word) => STATUS_OF_WORD.get(word)).find((each) => each !== undefined);
  const settled = status ?? numeric ?? known ?? 500;
  const plain = typeof body === 'string' && !/<\w/.test(body) ? textOrNull(body.trim()) : null;
  const message = (
    messageIn(error) ??
    messageIn(outer) ??
    plain ??
    `the provider answered with status ${settled}`
  )
    .slice(0, LONGEST_MESSAGE)
    .toWellFormed();
  const code = textOrNull(error.code);
  const isTooLong = code === CONTEXT_CODE || ([400, 413].includes(settled) && TOO_LONG.test(message));
  return { status: settled, message, code: isTooLong ? CONTEXT_CODE : code, field: textOrNull(error.param) };
}

const openaiType = (status: number): string =>
  OPENAI_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');

const messagesType = (status: number): string =>
  MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');

/** The message as the caller's protocol has it: Claude Code shortens its conversation at these words. */
const messagesText = ({ message, code }: Fault): string =>
  code === CONTEXT_CODE && !/prompt is too long/i.test(message) ? `prompt is too long: ${message}` : message;

/** The code of a failed response, by which codex tells whether to try again. */
export const responsesCode = ({ code, status }: Fault): string => {
  if (code !== null) return code;
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 500 ? 'server_error' : 'invalid_prompt';
};

/** Writes a fault as the body of an error in that protocol. */
export function writeFault(protocol: Protocol, fault: Fault): Record<string, unknown> {
  const { status, message, code, field } = fault;
  if (protocol === 'messages')
    return { type: 'error', error: { type: messagesType(status), message: messagesText(fault) } };
  if (protocol === 'gemini')
    return {
      error: {
        code: status,
        message,
        status: GEMINI_STATUSES[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL'),
      },
    };
  return { error: { message, type: openaiType(status), param: field, code } };
}

/** The fault of a stream that ended without its own end. */
export const cutFault = (): Fault => ({
  status: 502,
  message: 'the stream of the provider was cut off before its end',
  code: null,
  field: null,
});

/** The fault of an event that cannot be read. */
export const brokenFault = (): Fault => ({
  status: 502,
  message: 'the provider sent an event that is no JSON',
  code: null,
  field: null,
});

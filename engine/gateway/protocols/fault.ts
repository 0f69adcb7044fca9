import type { Protocol } from '../protocol.ts';

/** The content of an error from any source. */
export interface ProviderFault {
  /** The HTTP status, also of an error inside a stream. */
  status: number;
  message: string;
  /** OpenAI's code, such as `context_length_exceeded`, or a stable code of svc, such as `budget_exceeded`. */
  code: string | null;
  /** The field that caused it. */
  field: string | null;
}

/** The name of each service for a status: OpenAI's `type`, Anthropic's `type`, Google's `status`. */
export interface StatusWords {
  openai: string;
  messages: string;
  gemini: string;
}

/**
 * One line per status. All clients decide by the status whether to retry, and show the name. Claude Code treats
 * `overloaded_error` as 529 with any status, and replaces its message, so it is used for 529 only; 503 keeps its
 * message. 402 is Google's name for missing billing: PERMISSION_DENIED would look like a wrong key.
 */
export const STATUS_WORDS: Readonly<Record<number, StatusWords>> = {
  400: { openai: 'invalid_request_error', messages: 'invalid_request_error', gemini: 'INVALID_ARGUMENT' },
  401: { openai: 'authentication_error', messages: 'authentication_error', gemini: 'UNAUTHENTICATED' },
  402: { openai: 'insufficient_quota', messages: 'billing_error', gemini: 'FAILED_PRECONDITION' },
  403: { openai: 'permission_error', messages: 'permission_error', gemini: 'PERMISSION_DENIED' },
  404: { openai: 'not_found_error', messages: 'not_found_error', gemini: 'NOT_FOUND' },
  408: { openai: 'invalid_request_error', messages: 'timeout_error', gemini: 'DEADLINE_EXCEEDED' },
  409: { openai: 'invalid_request_error', messages: 'conflict_error', gemini: 'ABORTED' },
  413: { openai: 'invalid_request_error', messages: 'request_too_large', gemini: 'INVALID_ARGUMENT' },
  429: { openai: 'rate_limit_error', messages: 'rate_limit_error', gemini: 'RESOURCE_EXHAUSTED' },
  499: { openai: 'invalid_request_error', messages: 'invalid_request_error', gemini: 'CANCELLED' },
  500: { openai: 'server_error', messages: 'api_error', gemini: 'INTERNAL' },
  501: { openai: 'server_error', messages: 'api_error', gemini: 'UNIMPLEMENTED' },
  503: { openai: 'server_error', messages: 'api_error', gemini: 'UNAVAILABLE' },
  504: { openai: 'server_error', messages: 'timeout_error', gemini: 'DEADLINE_EXCEEDED' },
  529: { openai: 'server_error', messages: 'overloaded_error', gemini: 'UNAVAILABLE' },
};

const wordsOf = (status: number): StatusWords =>
  STATUS_WORDS[status] ?? STATUS_WORDS[status < 500 ? 400 : 500]!;

/** The code that tells clients that the prompt exceeds the context window, so that they shorten it. */
export const CONTEXT_CODE = 'context_length_exceeded';

/** Writes the message at which Claude Code shortens its conversation. */
const messagesText = ({ message, code }: ProviderFault): string =>
  code === CONTEXT_CODE && !/prompt is too long/i.test(message) ? `prompt is too long: ${message}` : message;

/** Writes a fault as an error body of that protocol. */
export function writeFault(protocol: Protocol, fault: ProviderFault): Record<string, unknown> {
  const { status, message, code, field } = fault;
  const words = wordsOf(status);
  if (protocol === 'messages')
    return { type: 'error', error: { type: words.messages, message: messagesText(fault) } };
  if (protocol === 'gemini') return { error: { code: status, message, status: words.gemini } };
  return { error: { message, type: words.openai, param: field, code } };
}

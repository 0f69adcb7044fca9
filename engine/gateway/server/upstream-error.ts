import type { OutgoingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../core/base/json-object.ts';
import { parseExactJson } from '../exact-json.ts';
import type { Protocol } from '../protocol.ts';
import { CONTEXT_CODE } from '../protocols/fault.ts';
import { writeFault } from '../protocols/index.ts';
import type { Provider } from '../settings.ts';
import { type ProtocolTranslation, readFault } from '../translate/index.ts';
import type { CallFailure } from './answer.ts';
import { buildClientHeaders } from './credentials.ts';
import { findProviderTrouble } from './provider-trouble.ts';
import type { UpstreamHeaders } from './upstream.ts';

/** The consequences of a missing answer. */
export interface FailureFacts {
  /**
   * The upstream's own error, which the client receives unchanged if no other provider answers; null if the client
   * would not understand it.
   */
  relayed: Buffer | null;
  headers: OutgoingHttpHeaders;
  /** True if another provider may do better and is called. */
  asksOthers: boolean;
  /** True if it counts against the provider: never for a wrong request or the client's own account. */
  isFault: boolean;
  /** True if the same provider may answer the next time. */
  mayRepeat: boolean;
  retryAfterMs: number | null;
  /** The upstream's own text, to check the fields it names; '' for none. */
  said: string;
}

const LONGEST_QUOTE = 500;
const LONGEST_LOOK = 16 * 1024;

/** Reports whether another provider may answer, because it has a different account and different models. */
const mayDependOnProvider = (status: number): boolean =>
  status >= 500 || [401, 402, 403, 404, 408, 409, 425, 429].includes(status);
/** Reports whether the provider is at fault, not the request. */
const isProviderStatus = (status: number): boolean => status >= 500 || status === 408 || status === 425;
const isAccountStatus = (status: number): boolean => [401, 402, 403, 429].includes(status);

/** Reads an unsuccessful answer: the error for the client, whether others are called, and who is at fault. */
export function describeUpstreamError({
  status: given,
  headers,
  body,
  provider,
  protocol,
  translator,
  marks,
}: {
  status: number;
  headers: UpstreamHeaders;
  body: Buffer;
  provider: Provider;
  /** The caller's protocol. */
  protocol: Protocol;
  translator: ProtocolTranslation | null;
  /** Headers of every answer of this upstream. */
  marks: OutgoingHttpHeaders;
}): [failure: CallFailure, facts: Partial<FailureFacts>] {
  const { name, key, takesClientKey } = provider;
  // Other codes have no known meaning.
  const status = given > 599 ? 502 : given;
  if (status < 400) {
    const isRedirect = headers.location !== undefined;
    return [
      {
        status: 502,
        code: isRedirect ? 'upstream_redirect' : 'upstream_invalid',
        message: isRedirect
          ? `${name} redirects to another address (${status}), to which no key is sent; correct its base_url`
          : `${name} answered with status ${status}, which is not an answer to a call`,
      },
      {},
    ];
  }
  const secret = findSecret(provider);
  const safe = hideSecret(body, secret);
  const said = parseAnswer(safe);
  const fault = readFault(status, said);
  const trouble = findProviderTrouble(said, fault);
  const retryAfterMs = status >= 429 ? readRetryAfter(headers['retry-after']) : null;
  const facts = {
    asksOthers: mayDependOnProvider(status) || trouble !== null,
    isFault:
      isProviderStatus(status) || ((isAccountStatus(status) || trouble === 'account') && !takesClientKey),
    headers: { ...pickErrorHeaders(buildClientHeaders(headers, secret)), ...marks },
    // A provider that gives a time is not called before it: the client gets the time.
    mayRepeat: status >= 500 && status !== 529 && retryAfterMs === null,
    retryAfterMs,
    said: body.toString('utf8', 0, LONGEST_LOOK),
  };
  if (status === 401 && key !== null)
    return [
      { status, code: 'upstream_auth', message: `${name} refuses the key that the gateway has for it` },
      facts,
    ];
  const plain = `${name} answered with status ${status}`;
  if (!isJsonObject(said))
    return [
      {
        status: said === undefined && status >= 500 ? 502 : status,
        code: 'upstream_error',
        message: plain,
      },
      facts,
    ];
  const message = readErrorMessage(said);
  // Agents would not shorten a prompt that a provider calls too long in its own terms.
  const isInOwnWords = fault.code === CONTEXT_CODE && !saysTooLong(protocol, said);
  if (translator === null && message !== null && !isInOwnWords)
    return [
      { status, code: 'upstream_error', message },
      { ...facts, relayed: safe },
    ];
  // Servers also return errors of their web frameworks, which no client of the protocol understands.
  const written = translator?.error(status, said) ?? writeFault(protocol, fault);
  return [
    { status, code: 'upstream_error', message: message ?? fault.message },
    { ...facts, relayed: Buffer.from(JSON.stringify(written)) },
  ];
}

/** Reports whether an error says that a prompt is too long in the form that clients of the protocol expect. */
function saysTooLong(protocol: Protocol, body: unknown): boolean {
  if (protocol === 'gemini') return true;
  if (protocol === 'messages') return /prompt is too long/i.test(readErrorMessage(body) ?? '');
  const error = isJsonObject(body) ? body.error : undefined;
  return isJsonObject(error) && error.code === CONTEXT_CODE;
}

/** Parses a whole answer without rounding numbers; undefined if it is not JSON. */
export function parseAnswer(body: Buffer): unknown {
  try {
    return parseExactJson(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** Shorter keys are words such as `none` or `ollama`, which an answer may well contain. */
const SHORTEST_SECRET = 12;

/** Returns the key that no answer may contain; null if there is none. */
export const findSecret = ({ key }: Provider): string | null =>
  key !== null && key.length >= SHORTEST_SECRET ? key : null;

/** Services quote the key that they refuse. */
export function hideSecret<T extends Buffer | string>(text: T, secret: string | null): T {
  if (secret === null || !text.includes(secret)) return text;
  const hidden = text.toString().replaceAll(secret, '[key]');
  return (Buffer.isBuffer(text) ? Buffer.from(hidden) : hidden) as T;
}

/** Returns the text of an error in any form. */
export function readErrorMessage(body: unknown): string | null {
  const error = isJsonObject(body) ? body.error : undefined;
  const message = isJsonObject(error) ? error.message : error;
  return typeof message === 'string' ? message.slice(0, LONGEST_QUOTE) : null;
}

/** Returns headers that tell a client when to retry, and the id of the call at the service. */
const pickErrorHeaders = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(?:retry-after|x-should-retry|(?:x-)?request-id|.*ratelimit)/.test(name),
    ),
  );

/** Returns milliseconds from now; seconds or a date on the wire. Null if there is none. */
function readRetryAfter(value: string | string[] | undefined): number | null {
  const text = String(value ?? '').trim();
  if (text === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

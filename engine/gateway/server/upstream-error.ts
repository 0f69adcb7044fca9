import type { OutgoingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../core/base/json-object.ts';
import { parseExactJson } from '../exact-json.ts';
import type { Protocol } from '../protocol.ts';
import { CONTEXT_CODE } from '../protocols/fault.ts';
import { writeFault } from '../protocols/index.ts';
import type { Provider } from '../settings.ts';
import { readFault, type Translation } from '../translate/index.ts';
import type { CallFailure } from './answer.ts';
import { buildClientHeaders } from './credentials.ts';
import { findProviderTrouble } from './provider-trouble.ts';
import type { UpstreamHeaders } from './upstream.ts';

/** What follows from an answer that did not come about. */
export interface FailureFacts {
  /** The upstream's own error, which the client gets as it is when nobody else answers; null for none it would understand. */
  relayed: Buffer | null;
  headers: OutgoingHttpHeaders;
  /** Another provider may do better, so it is asked. */
  asksOthers: boolean;
  /** It counts against the provider: never a wrong request, nor what is wrong with a client's own account. */
  isFault: boolean;
  /** The same provider may answer the next time. */
  mayRepeat: boolean;
  retryAfterMs: number | null;
  /** The upstream's own words, for a look at what they name; '' for none. */
  said: string;
}

const LONGEST_QUOTE = 500;
const LONGEST_LOOK = 16 * 1024;

/** Another provider may answer: it has another account, and other models. */
const mayDependOnProvider = (status: number): boolean =>
  status >= 500 || [401, 402, 403, 404, 408, 409, 425, 429].includes(status);
/** Not what was asked for, but who was asked is at fault. */
const isProviderStatus = (status: number): boolean => status >= 500 || status === 408 || status === 425;
const isAccountStatus = (status: number): boolean => [401, 402, 403, 429].includes(status);

/** Reads an answer that is no success: what the client is told, whether others are asked, and whose fault it is. */
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
  /** The caller's. */
  protocol: Protocol;
  translator: Translation | null;
  /** Headers of every answer of this upstream. */
  marks: OutgoingHttpHeaders;
}): [failure: CallFailure, facts: Partial<FailureFacts>] {
  const { name, key, takesClientKey } = provider;
  // Of others nobody knows what they mean.
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
    // Who names a time is not asked before it: the client is told.
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
  // By words of their own for a prompt that is too long, agents would not shorten it.
  const isInOwnWords = fault.code === CONTEXT_CODE && !saysTooLong(protocol, said);
  if (translator === null && message !== null && !isInOwnWords)
    return [
      { status, code: 'upstream_error', message },
      { ...facts, relayed: safe },
    ];
  // Servers of a protocol have errors of their own web frameworks, which no client of that protocol understands.
  const written = translator?.error(status, said) ?? writeFault(protocol, fault);
  return [
    { status, code: 'upstream_error', message: message ?? fault.message },
    { ...facts, relayed: Buffer.from(JSON.stringify(written)) },
  ];
}

/** Whether an error says that a prompt is too long as clients of the protocol expect it. */
function saysTooLong(protocol: Protocol, body: unknown): boolean {
  if (protocol === 'gemini') return true;
  if (protocol === 'messages') return /prompt is too long/i.test(readErrorMessage(body) ?? '');
  const error = isJsonObject(body) ? body.error : undefined;
  return isJsonObject(error) && error.code === CONTEXT_CODE;
}

/** Parses a whole answer and rounds no number; undefined for what is no JSON. */
export function parseAnswer(body: Buffer): unknown {
  try {
    return parseExactJson(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** A shorter key is a word such as `none` or `ollama`, which an answer may well have. */
const SHORTEST_SECRET = 12;

/** The key that no answer may have; null where there is none. */
export const findSecret = ({ key }: Provider): string | null =>
  key !== null && key.length >= SHORTEST_SECRET ? key : null;

/** Services quote the key that they refuse. */
export function hideSecret<T extends Buffer | string>(text: T, secret: string | null): T {
  if (secret === null || !text.includes(secret)) return text;
  const hidden = text.toString().replaceAll(secret, '[key]');
  return (Buffer.isBuffer(text) ? Buffer.from(hidden) : hidden) as T;
}

/** What an error says, in whatever form. */
export function readErrorMessage(body: unknown): string | null {
  const error = isJsonObject(body) ? body.error : undefined;
  const message = isJsonObject(error) ? error.message : error;
  return typeof message === 'string' ? message.slice(0, LONGEST_QUOTE) : null;
}

/** What tells a client when to come again, and how to name the call to the service. */
const pickErrorHeaders = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(?:retry-after|x-should-retry|(?:x-)?request-id|.*ratelimit)/.test(name),
    ),
  );

/** Ms from now; seconds or a date on the wire. Null where there is none. */
function readRetryAfter(value: string | string[] | undefined): number | null {
  const text = String(value ?? '').trim();
  if (text === '') return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

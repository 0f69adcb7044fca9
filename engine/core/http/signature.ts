import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { SvcError } from '../base/errors.ts';

/** Header names in lower case, as node:http gives them. */
export type SignedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How far a timestamp may differ from the engine's clock in either direction, ms. */
export const SKEW_MS = 300_000;

/** The largest body of a signed request, bytes. */
export const LARGEST_SIGNED_BYTES = 262_144;

/** One of the three signature schemes (01 Authentication). Of several header names the first one present is used. */
export interface SignatureScheme {
  /** Absent if the scheme signs no time. */
  timestamp?: readonly string[];
  signature: readonly string[];
  /** Prefix of the hex in the signature header. */
  prefix: string;
  /** Returns the signed bytes that precede the raw body. */
  before(timestamp: string): string;
  /** For `WWW-Authenticate` (RFC 9110 §11.6.1: every 401 has one). */
  challenge: string;
}

export const SCHEMES = {
  svc: {
    timestamp: ['x-svc-timestamp'],
    signature: ['x-svc-signature'],
    prefix: '',
    before: (timestamp) => `${timestamp}.`,
    challenge: 'Svc-HMAC-SHA256 realm="svc", headers="X-Svc-Timestamp X-Svc-Signature"',
  },
  codehost: {
    signature: ['x-hub-signature-256'],
    prefix: 'sha256=',
    before: () => '',
    challenge: 'Svc-HMAC-SHA256 realm="svc", headers="X-Hub-Signature-256"',
  },
  chat: {
    timestamp: ['x-chat-request-timestamp', 'x-slack-request-timestamp'],
    signature: ['x-chat-signature', 'x-slack-signature'],
    prefix: 'v0=',
    before: (timestamp) => `v0:${timestamp}:`,
    challenge: 'Svc-HMAC-SHA256 realm="svc", headers="X-Chat-Request-Timestamp X-Chat-Signature"',
  },
} as const satisfies Record<string, SignatureScheme>;

/** Finds the value of the first of `names` that is present; undefined for a repeated header, which is malformed. */
export function findHeader(headers: SignedHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) return typeof value === 'string' ? value : undefined;
  }
  return undefined;
}

/** Checks and returns the request's timestamp as signed, '' when the scheme has none. Throws `timestamp_out_of_range`. */
export function checkTime(scheme: SignatureScheme, headers: SignedHeaders, now: number): string {
  if (scheme.timestamp === undefined) return '';
  const text = findHeader(headers, scheme.timestamp);
  if (text !== undefined && /^\d{1,12}$/.test(text)) {
    // Compared in milliseconds, so the replay cache's ten minutes cover the whole window.
    if (Math.abs(now - Number(text) * 1000) <= SKEW_MS) return text;
  }
  const found =
    text === undefined ? 'is missing' : 'is not Unix time in whole seconds within 300 s of the local clock';
  throw new SvcError('timestamp_out_of_range', `the timestamp header ${found}`, {
    hint: 'send the current Unix time in seconds; server_time is the time of this machine',
    data: { server_time: Math.floor(now / 1000) },
  });
}

/** Creates the error for a signed time that may have been used before the engine's clock was set back. */
export const clockSetBackError = (now: number): SvcError =>
  new SvcError('timestamp_out_of_range', 'the local clock was set back to a time that was already used', {
    hint: 'correct the clock of the answering machine; server_time is its time',
    data: { server_time: Math.floor(now / 1000) },
  });

/** Throws `unsupported_encoding`: the signature covers the transmitted bytes. */
export function checkEncoding(headers: SignedHeaders): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || /^identity$/i.test(String(encoding))) return;
  throw new SvcError('unsupported_encoding', 'a Content-Encoding other than identity is not accepted', {
    hint: 'send the bytes that were signed, not compressed',
  });
}

export type VerifySignature = (
  scheme: SignatureScheme,
  headers: SignedHeaders,
  timestamp: string,
  body: Buffer,
) => Buffer | null;

/**
 * Creates a verifier for any of `secrets` (several during a rotation), in constant time over the raw bytes. It
 * returns the signature's bytes, which are the key of the replay cache, or null. Upper-case hex is accepted: it is
 * the same signature and so the same key.
 */
export function createVerifier(secrets: readonly string[]): VerifySignature {
  const keys: KeyObject[] = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  return (scheme, headers, timestamp, body) => {
    const text = findHeader(headers, scheme.signature);
    if (text === undefined || !text.startsWith(scheme.prefix)) return null;
    const hex = text.slice(scheme.prefix.length);
    // Buffer.from stops silently at the first character that is not hex.
    if (hex.length !== 64 || !/^[\da-f]+$/i.test(hex)) return null;
    const given = Buffer.from(hex, 'hex');
    let verified = false;
    for (const key of keys) {
      const mac = createHmac('sha256', key);
      const before = scheme.before(timestamp);
      if (before !== '') mac.update(before);
      verified = timingSafeEqual(mac.update(body).digest(), given) || verified;
    }
    return verified ? given : null;
  };
}

/** Builds the value of a scheme's signature header. */
export function signRequest(
  scheme: SignatureScheme,
  secret: string,
  timestamp: string,
  body: string | Buffer,
): string {
  const mac = createHmac('sha256', secret).update(scheme.before(timestamp)).update(body);
  return `${scheme.prefix}${mac.digest('hex')}`;
}

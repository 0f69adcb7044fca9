import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { SvcError } from '../base/errors.ts';
import type { Headers } from './request.ts';

/** How far a timestamp may be from our clock, either side. */
export const SKEW_MS = 300_000;

/** One of the three ways to sign (01 Authentication). The first name of a header that is present counts. */
export interface Scheme {
  /** Absent: the scheme signs no time. */
  timestamp?: readonly string[];
  signature: readonly string[];
  /** Before the hex of the signature header. */
  prefix: string;
  /** The signed bytes that come before the raw body. */
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
} as const satisfies Record<string, Scheme>;

/** The value of the first of `names` that is there. A header that came twice is malformed: undefined. */
export function findHeader(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) return typeof value === 'string' ? value : undefined;
  }
  return undefined;
}

/** The request's timestamp as it was signed, '' when the scheme has none. Throws `timestamp_out_of_range`. */
export function checkTime(scheme: Scheme, headers: Headers, now: number): string {
  if (scheme.timestamp === undefined) return '';
  const text = findHeader(headers, scheme.timestamp);
  if (text !== undefined && /^\d{1,12}$/.test(text)) {
    // Compared to the millisecond, so that the ten minutes of the replay cache cover all of the window.
    if (Math.abs(now - Number(text) * 1000) <= SKEW_MS) return text;
  }
  const found =
    text === undefined ? 'is missing' : 'is not plain Unix seconds within 300 s of the clock here';
  throw new SvcError('timestamp_out_of_range', `the timestamp header ${found}`, {
    hint: 'send the current Unix time in seconds; server_time is the time here',
    data: { server_time: Math.floor(now / 1000) },
  });
}

/** The clock here was set back, and a signature of that time may have been used before. */
export const clockSetBackError = (now: number): SvcError =>
  new SvcError('timestamp_out_of_range', 'the clock here was set back to a time that is used up', {
    hint: 'set the clock of the engine’s machine; server_time is the time there',
    data: { server_time: Math.floor(now / 1000) },
  });

export type Verify = (scheme: Scheme, headers: Headers, timestamp: string, body: Buffer) => Buffer | null;

/**
 * Verifies under any of `secrets` (several while one is replaced), in constant time over the raw bytes. Gives the
 * signature's bytes, the key of the replay cache, or null. Hex in upper case is accepted, since some tools print it so:
 * it is the same signature and therefore the same key.
 */
export function createVerifier(secrets: readonly string[]): Verify {
  const keys: KeyObject[] = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  return (scheme, headers, timestamp, body) => {
    const text = findHeader(headers, scheme.signature);
    if (text === undefined || !text.startsWith(scheme.prefix)) return null;
    const hex = text.slice(scheme.prefix.length);
    // Buffer.from stops quietly at the first character that is not hex.
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

/** Signs as `scheme` asks: the whole value of its signature header. */
export function signRequest(
  scheme: Scheme,
  secret: string,
  timestamp: string,
  body: string | Buffer,
): string {
  const mac = createHmac('sha256', secret).update(scheme.before(timestamp)).update(body);
  return `${scheme.prefix}${mac.digest('hex')}`;
}

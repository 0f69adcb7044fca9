import type { IncomingHttpHeaders } from 'node:http';
import { KEY_PREFIX } from '../keys/virtual-key.ts';

/** The virtual key of a request, and the request without it. */
export interface Credentials {
  /** Null for a request without one. */
  key: string | null;
  /** Without `/s/KEY`. */
  path: string;
  /** Without `key=`; with its question mark, or empty. */
  query: string;
}

const IN_PATH = /^\/s\/([^/]+)(\/.*)?$/;

/** Finds the virtual key: path prefix, Bearer, x-api-key, x-goog-api-key, `?key=`. The first match is used. */
export function readCredentials(url: string, headers: IncomingHttpHeaders): Credentials {
  const at = url.indexOf('?');
  const whole = at < 0 ? url : url.slice(0, at);
  const { query, key: inQuery } = readQuery(at < 0 ? '' : url.slice(at + 1));
  const [, inPath, rest] = IN_PATH.exec(whole) ?? [];
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1];
  const shown = [inPath, bearer, headers['x-api-key'], headers['x-goog-api-key'], inQuery].filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  // The client's own key, for its upstream, may be present next to a virtual key.
  const key = shown.find((each) => each.startsWith(KEY_PREFIX)) ?? shown[0] ?? null;
  return { key, path: inPath === undefined ? whole : (rest ?? '/'), query };
}

function readQuery(text: string): { query: string; key: string | null } {
  if (text === '') return { query: '', key: null };
  if (!text.includes('key=') && !text.includes(KEY_PREFIX)) return { query: `?${text}`, key: null };
  // Only the removed part changes: the rest keeps the client's spelling.
  const parts = text.split('&');
  // Under another name it is not valid, and must not reach an upstream.
  const kept = parts.filter((part) => !part.startsWith('key=') && !part.includes(KEY_PREFIX));
  const [shown] = parts.filter((part) => part.startsWith('key='));
  return { query: kept.length === 0 ? '' : `?${kept.join('&')}`, key: shown?.slice(4) ?? null };
}

/** Hop-by-hop headers, or headers that only the gateway sets. */
const NOT_SENT = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'expect',
  'cookie',
  'origin',
  'referer',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'x-forwarded-for',
  'x-forwarded-host',
  'forwarded',
]);

const OWN_KEYS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const;

/** Returns the client's headers for an upstream: without credentials, except its own if they are passed on. */
export function buildUpstreamHeaders(
  headers: IncomingHttpHeaders,
  { withClientKey }: { withClientKey: boolean },
): Record<string, string> {
  const sent: Record<string, string> = {};
  const dropped = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_SENT.has(name) || dropped.has(name)) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    if (!text.includes(KEY_PREFIX)) sent[name] = text;
  }
  if (withClientKey)
    for (const name of OWN_KEYS) {
      const own = headers[name];
      if (typeof own === 'string' && !own.includes(KEY_PREFIX)) sent[name] = own;
    }
  return sent;
}

/** Headers of the upstream's connection, or headers that only the gateway sets. */
const NOT_RETURNED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-encoding',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'www-authenticate',
]);

/** Headers for browser pages, which are not served, and headers that the gateway sets itself. */
const IS_NOT_ITS_OWN = /^(?:access-control|x-svc)-/;

/** Returns an upstream's headers for the client. A header that contains the upstream's key is omitted. */
export function buildClientHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secret: string | null,
): Record<string, string | string[]> {
  const returned: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_RETURNED.has(name) || IS_NOT_ITS_OWN.test(name)) continue;
    if (secret !== null && String(value).includes(secret)) continue;
    returned[name] = value;
  }
  return returned;
}

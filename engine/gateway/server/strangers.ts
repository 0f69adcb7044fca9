import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../base/values/address.ts';

/** Why a request comes from somewhere that has no business here, such as a page in a browser; null for others. */
export function findStranger({ headers }: IncomingMessage, host: string): string | null {
  const named = (headers.host ?? '').toLowerCase();
  const name = named.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  // A page whose name points here is told by the name that it asked for.
  if (!isLoopback(name) && (isLoopback(host) || name !== host.toLowerCase()))
    return 'the Host header names another machine';
  const { origin } = headers;
  if (origin === undefined) return null;
  const isOwn = URL.canParse(origin) && new URL(origin).host === named;
  return isOwn ? null : 'pages of browsers are not served: this request has an Origin';
}

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isLoopback } from '../../core/base/values/address.ts';

/** Addresses that stand for all addresses of a machine. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** Reports whether a request that reached the gateway at `host` may have used that host name. */
function isOwnName(name: string, host: string): boolean {
  if (isLoopback(name)) return true;
  if (isLoopback(host)) return false;
  if (name === host.toLowerCase()) return true;
  // An address cannot be redirected, and a browser knows this machine only by its own name.
  return ANY_ADDRESS.has(host) && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** Returns why a request must be refused by its origin, such as a page in a browser; null if it is fine. */
export function findStranger(
  { headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>,
  host: string,
): string | null {
  const named = (headers.host ?? '').toLowerCase();
  const name = named.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  // HTTP/1.0 has no Host, and no browser speaks it.
  const isOld = headers.host === undefined && httpVersion === '1.0';
  // A page whose domain resolves to this address is recognised by the Host that it sends.
  if (!isOld && !isOwnName(name, host)) return 'the Host header names another machine';
  const { origin } = headers;
  if (origin === undefined) return null;
  const isOwn = URL.canParse(origin) && new URL(origin).host === named;
  return isOwn ? null : 'requests from browser pages are refused: this request has an Origin';
}

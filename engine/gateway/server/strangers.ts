import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isLoopback } from '../../core/base/values/address.ts';

/** Addresses that stand for all of a machine's own. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** Whether a request that reached the gateway at `host` may have asked for that name. */
function isOwnName(name: string, host: string): boolean {
  if (isLoopback(name)) return true;
  if (isLoopback(host)) return false;
  if (name === host.toLowerCase()) return true;
  // Nobody can let an address point elsewhere, and a browser knows this machine by no other name than its own.
  return ANY_ADDRESS.has(host) && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** Why a request comes from somewhere that has no business here, such as a page in a browser; null for others. */
export function findStranger(
  { headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>,
  host: string,
): string | null {
  const named = (headers.host ?? '').toLowerCase();
  const name = named.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  // HTTP/1.0 has no Host, and no browser speaks it.
  const isOld = headers.host === undefined && httpVersion === '1.0';
  // A page whose name points here is told by the name that it asked for.
  if (!isOld && !isOwnName(name, host)) return 'the Host header names another machine';
  const { origin } = headers;
  if (origin === undefined) return null;
  const isOwn = URL.canParse(origin) && new URL(origin).host === named;
  return isOwn ? null : 'requests from browser pages are refused: this request has an Origin';
}

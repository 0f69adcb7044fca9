import { isIP, SocketAddress } from 'node:net';

/** An address in the one way that this server writes it; null for what is none. A port, a zone and brackets are left out. */
function readAddress(text: string): string | null {
  const [, bracketed, withPort] = /^\[(.*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text.trim()) ?? [];
  const address = (bracketed ?? withPort ?? text.trim()).replace(/%.*$/, '');
  if (isIP(address) === 0) return null;
  if (isIP(address) === 4) return address;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(canonical)?.[1] ?? canonical;
}

/** The client behind proxies: the last address of `X-Forwarded-For` that is no trusted proxy; the peer's own where that is none. */
export function findClientAddress(
  peer: string,
  forwarded: string | undefined,
  isTrustedProxy: (address: string) => boolean,
): string {
  let address = readAddress(peer) ?? peer;
  if (forwarded === undefined) return address;
  for (const hop of forwarded.split(',').reverse()) {
    if (!isTrustedProxy(address)) return address;
    const next = readAddress(hop);
    if (next === null) return address;
    address = next;
  }
  return address;
}

/** The eight groups of an address of IPv6. */
function readGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const split = (part: string): string[] => part.split(':').filter((group) => group !== '');
  if (tail === undefined) return split(head);
  const ends = [split(head), split(tail)] as const;
  return [...ends[0], ...Array<string>(8 - ends[0].length - ends[1].length).fill('0'), ...ends[1]];
}

/**
 * Whose attempts are counted together: an address of IPv4, and the /64 of one of IPv6, all of which belongs to whoever has one
 * of its addresses.
 */
export const networkOf = (address: string): string =>
  isIP(address) === 6 ? `${readGroups(address).slice(0, 4).join(':')}::/64` : address;

/** Two addresses that may be of one network: the same one, or in the same /24 or /64. */
export function isSameNetwork(one: string, other: string): boolean {
  if (isIP(one) !== isIP(other)) return false;
  if (isIP(one) !== 4) return networkOf(one) === networkOf(other);
  const head = (address: string): string => address.split('.').slice(0, 3).join('.');
  return head(one) === head(other);
}

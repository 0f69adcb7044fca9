import { isIP, SocketAddress } from 'node:net';

/** Normalizes an address; null for other texts. A port, a zone and brackets are dropped. */
function readAddress(text: string): string | null {
  const [, bracketed, withPort] = /^\[(.*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text.trim()) ?? [];
  const address = (bracketed ?? withPort ?? text.trim()).replace(/%.*$/, '');
  if (isIP(address) === 0) return null;
  if (isIP(address) === 4) return address;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(canonical)?.[1] ?? canonical;
}

/**
 * Returns the client behind proxies: the last address of `X-Forwarded-For` that is not a trusted proxy; the peer's
 * own if that is none.
 */
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

/** Splits an IPv6 address into its eight groups. */
function readGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const split = (part: string): string[] => part.split(':').filter((group) => group !== '');
  if (tail === undefined) return split(head);
  const ends = [split(head), split(tail)] as const;
  return [...ends[0], ...Array<string>(8 - ends[0].length - ends[1].length).fill('0'), ...ends[1]];
}

/**
 * Returns the network whose attempts are counted together: an IPv4 address, or the /64 of an IPv6 address, which
 * belongs to one subscriber.
 */
export const networkOf = (address: string): string =>
  isIP(address) === 6 ? `${readGroups(address).slice(0, 4).join(':')}::/64` : address;

/** Reports whether two addresses may be of one network: the same one, or in the same /24 or /64. */
export function isSameNetwork(one: string, other: string): boolean {
  if (isIP(one) !== isIP(other)) return false;
  if (isIP(one) !== 4) return networkOf(one) === networkOf(other);
  const head = (address: string): string => address.split('.').slice(0, 3).join('.');
  return head(one) === head(other);
}

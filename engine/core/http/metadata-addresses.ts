import { BlockList, isIP } from 'node:net';

/** Addresses where clouds give a machine its credentials; no flag opens these. */
export const METADATA = [
  '169.254.169.254',
  '169.254.169.253',
  '169.254.169.123',
  '169.254.0.23',
  '169.254.42.42',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
  'fd00:a9fe:a9fe::1',
  'fe80::a9fe:a9fe',
];

/** Returns the family of an address in `BlockList` terms. */
export const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Creates a list of addresses and of networks such as `10.0.0.0/8`. */
export function makeBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

const metadata = makeBlockList(METADATA);
/** All forms whose last 32 bits are an IPv4 address: also mapped and compatible ones, which are never needed. */
const carriesV4 = makeBlockList(['64:ff9b::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '::/96']);

/** Returns the IPv4 address in the last 32 bits of an IPv6 address; null if it has none. */
export function findCarriedV4(address: string): string | null {
  if (isIP(address) !== 6 || !carriesV4.check(address, 'ipv6')) return null;
  const dotted = /:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  // The URL parser writes every IPv6 address in one form, with at least the last two groups or a gap before them.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high, low] = groups.slice(-2).map((group) => (group === '' ? 0 : Number.parseInt(group, 16)));
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.');
}

/** Reports whether a cloud gives a machine its credentials at that address, also for IPv4 addresses in IPv6 form. */
export function isMetadataAddress(address: string): boolean {
  const carried = findCarriedV4(address);
  return [address, ...(carried === null ? [] : [carried])].some((form) =>
    metadata.check(form, familyOf(form)),
  );
}

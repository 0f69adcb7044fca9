import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TcpEnds } from '../platform.ts';

/** One end of a connection, in a form common to the kernel's tables and Node's sockets. */
interface End {
  /** The address in hexadecimal; for an IPv4 address mapped into IPv6 only its four bytes. */
  address: string;
  port: number;
}

const MAPPED = `${'0'.repeat(20)}ffff`;
const stripMapping = (hex: string): string => (hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex);

/**
 * Parses `0100007F:1F90`. The address is written in words of the processor, and all processors that Node runs on are
 * little-endian.
 */
function parseEnd(text: string): End {
  const [words = '', port = ''] = text.split(':');
  const bytes = words.replace(/(..)(..)(..)(..)/g, '$4$3$2$1').toLowerCase();
  return { address: stripMapping(bytes), port: Number.parseInt(port, 16) };
}

/** Returns the hexadecimal bytes of a textual address; null for other texts. */
function parseAddress(address: string): string | null {
  const hex = (number: number): string => number.toString(16).padStart(2, '0');
  if (isIPv4(address)) return address.split('.').map(Number).map(hex).join('');
  if (!isIPv6(address)) return null;
  const last = address.slice(address.lastIndexOf(':') + 1);
  if (isIPv4(last)) return parseAddress(last);
  const [head = '', tail = ''] = address.split('%', 1)[0]!.split('::');
  const groups = (part: string): string[] =>
    part === '' ? [] : part.split(':').map((group) => group.padStart(4, '0'));
  const missing = 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array<string>(Math.max(0, missing)).fill('0000'), ...groups(tail)].join('');
}

/** Finds the inode of a connection in a table of proc_net(5), from the first end's view; null if it is not there. */
function findInode(table: string, from: End, to: End): string | null {
  const isSameEnd = (one: End, other: End): boolean =>
    one.port === other.port && one.address === other.address;
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , , , inode = '0'] = line.trim().split(/\s+/);
    if (inode !== '0' && isSameEnd(parseEnd(local), from) && isSameEnd(parseEnd(remote), to)) return inode;
  }
  return null;
}

/** proc_net(5): the state of a listening socket. */
const LISTENS = '0A';

/** Lists the inodes of sockets that listen on a port, at any address, in a table of proc_net(5). */
const findListeningInodes = (table: string, port: number): string[] =>
  table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === LISTENS && parseEnd(local).port === port)
    .map((fields) => fields[9] ?? '0');

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

function readTable(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not on this machine
  }
}

/** Finds this user's processes that listen on a port; none if this machine does not report them. */
export async function findPortOwners(port: number): Promise<number[]> {
  const inodes = TABLES.flatMap((path) => findListeningInodes(readTable(path), port));
  const holders = await findSocketHolders(new Set(inodes.map((inode) => `socket:[${inode}]`)));
  return [...new Set([...holders.values()].flat())].sort((one, other) => one - other);
}

function listHeldSockets(fdFolder: string, sockets: ReadonlySet<string>): Set<string> {
  const held = new Set<string>();
  try {
    for (const fd of readdirSync(fdFolder)) {
      try {
        const target = readlinkSync(`${fdFolder}/${fd}`);
        if (sockets.has(target)) held.add(target);
      } catch {
        // closed since then
      }
    }
  } catch {
    // another user's, or gone
  }
  return held;
}

/**
 * Creates a function that finds the processes that hold the other end of a loopback connection; none if this machine does
 * not report them (no /proc), or if they belong to another user. A search looks at every process, so call it once per
 * connection and not per request; searches at the same time share one look.
 */
export function createConnectionOwnerSearch(): (ends: TcpEnds) => Promise<number[]> {
  let waiting = new Map<string, PromiseWithResolvers<number[]>>();
  let isSearching = false;

  async function searchAll(): Promise<void> {
    isSearching = true;
    while (waiting.size > 0) {
      await nextTurn();
      const searches = waiting;
      waiting = new Map();
      const holders = await findSocketHolders(new Set(searches.keys()));
      for (const [socket, { resolve }] of searches) resolve(holders.get(socket) ?? []);
    }
    isSearching = false;
  }

  return async (ends) => {
    const socket = findPeerSocket(ends);
    if (socket === null) return [];
    const search = waiting.get(socket) ?? Promise.withResolvers<number[]>();
    waiting.set(socket, search);
    if (!isSearching) void searchAll();
    return search.promise;
  };
}

/**
 * Returns the kernel's name of the socket at the other end; null if there is none here. Addresses are compared too:
 * another one of 127.0.0.0/8 may have the same port.
 */
function findPeerSocket(ends: TcpEnds): string | null {
  const theirs = { address: parseAddress(ends.remoteAddress ?? ''), port: ends.remotePort ?? -1 };
  const ours = { address: parseAddress(ends.localAddress ?? ''), port: ends.localPort ?? -1 };
  if (theirs.address === null || ours.address === null) return null;
  const [from, to] = [theirs, ours].map(({ address, port }) => ({
    address: stripMapping(address ?? ''),
    port,
  })) as [End, End];
  let inode: string | null = null;
  for (const table of TABLES) inode ??= findInode(readTable(table), from, to);
  return inode === null ? null : `socket:[${inode}]`;
}

/** Finds, for each of these sockets, the processes that have it open and that this process may inspect. */
async function findSocketHolders(sockets: ReadonlySet<string>): Promise<Map<string, number[]>> {
  const holders = new Map<string, number[]>();
  if (sockets.size === 0) return holders;
  let looked = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    for (const socket of listHeldSockets(`/proc/${name}/fd`, sockets))
      holders.set(socket, [...(holders.get(socket) ?? []), Number(name)]);
    looked += 1;
    if (looked % 64 === 0) await nextTurn();
  }
  return holders;
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The inode of the loopback connection from `localPort` to `remotePort` in a table of proc_net(5); null when it is not there. */
function inodeIn(table: string, localPort: number, remotePort: number): string | null {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/);
    if (local.endsWith(`:${hex(localPort)}`) && remote.endsWith(`:${hex(remotePort)}`)) return inode ?? null;
  }
  return null;
}

function holds(fdFolder: string, socket: string): boolean {
  try {
    return readdirSync(fdFolder).some((fd) => {
      try {
        return readlinkSync(`${fdFolder}/${fd}`) === socket;
      } catch {
        return false;
      }
    });
  } catch {
    return false; // another user's, or gone
  }
}

/**
 * The process at the other end of a connection to one of our loopback ports; null when this machine does not tell
 * (no /proc). Looks through every process, so it is for the beginning of a session and not for every request.
 */
export async function ownerOfConnection(peerPort: number, ourPort: number): Promise<number | null> {
  let inode: string | null = null;
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    try {
      inode ??= inodeIn(readFileSync(table, 'latin1'), peerPort, ourPort);
    } catch {
      // not this table
    }
  }
  if (inode === null || inode === '0') return null;
  let looked = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if (holds(`/proc/${name}/fd`, `socket:[${inode}]`)) return Number(name);
    looked += 1;
    if (looked % 64 === 0) await nextTurn();
  }
  return null;
}

import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { findRealPath } from '../../../base/real-paths.ts';

/** Folders of services that have their sockets outside `/run`, with their other files. */
export const SERVICE_FOLDERS = [
  ...['docker', 'containerd', 'containers', 'libvirt', 'lxd', 'incus', 'mysql', 'postgresql', 'redis'].map(
    (name) => `/var/lib/${name}`,
  ),
  ...['/var/snap', '/var/spool/postfix', '/var/spool/cron', '/var/spool/cups'],
];

/** Flag of a listening socket. */
const LISTENS = 0x10000;

export interface ListeningSockets {
  /** Files, links resolved. */
  files: string[];
  /** Abstract names, such as `@/tmp/.X11-unix/X0`: they belong to the network namespace. */
  abstract: string[];
}

/** Finds the Unix sockets of listening programs on this machine. */
export function findListeningSockets(table = readSocketTable()): ListeningSockets {
  const files = new Set<string>();
  const abstract = new Set<string>();
  for (const line of table.split('\n').slice(1)) {
    const [, flags = '', name = ''] = /^\S+ \S+ \S+ ([0-9A-F]+) \S+ \S+ +\d+ (.+)$/.exec(line) ?? [];
    if ((Number.parseInt(flags, 16) & LISTENS) === 0) continue;
    if (name.startsWith('@')) abstract.add(name);
    const real = isAbsolute(name) ? findRealPath(name) : null;
    if (real !== null && lstatSync(real, { throwIfNoEntry: false })?.isSocket()) files.add(real);
  }
  return { files: [...files], abstract: [...abstract] };
}

/**
 * Reports whether a confined run of root cannot reach a path: its rights end at folders that only another user may enter.
 * bubblewrap cannot cover anything there either.
 */
export function isOutOfReachOfRoot(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const { uid, gid, mode } = statSync(folder);
    const mayEnter = uid === 0 || (mode & 0o001) !== 0 || (gid === 0 && (mode & 0o010) !== 0);
    if (!mayEnter) return true;
  }
  return false;
}

function readSocketTable(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}

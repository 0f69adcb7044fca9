import { existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { findOnPath } from '../../base/find-program.ts';
import { loadOnce } from '../../base/load-once.ts';
import { callLibrary } from '../kernel-library.ts';
import { lsofSockets } from '../lsof-sockets.ts';
import type { Platform } from '../platform.ts';
import { createPsTable } from '../ps-table.ts';
import { createLinuxContainment } from './containment/index.ts';
import { tryRights } from './containment/rights.ts';
import { loadKernel } from './kernel.ts';
import { createLinuxProcessTable } from './process-table.ts';
import { createConnectionOwnerSearch, findPortOwners } from './socket-owners.ts';

// renameat2(2)
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;

const OPEN_FILES = '/proc/self/fd';
/** A container may have none. */
const HAS_PROC = existsSync('/proc/self/stat');

/** File systems with unreliable locks and WAL (magic numbers of statfs(2)). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
]);

/** Windows folders in WSL. Elsewhere 9p is also the file system of virtual machines. */
const WINDOWS_DRIVES: ReadonlyMap<number, string> = new Map([
  [0x01021997, '9p, a Windows drive'],
  [0x53464846, 'drvfs, a Windows drive'],
]);

const isWsl = (): boolean => /microsoft/i.test(release());

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

export const linux: Platform = {
  name: 'linux',
  ways: {
    processTable: HAS_PROC ? '/proc' : 'ps',
    fileWatch: 'inotify',
    containment:
      'start the engine where it may create cgroups, for example with systemd-run --user --scope -p Delegate=yes svc up; see docs/use/run-ends.md, and docs/operate/platforms.md for a container',
  },
  readVersion: () => `linux ${release()}`,
  findLibc() {
    // The files that this process has mapped.
    const maps = readText('/proc/self/maps') ?? '';
    return /\/ld-musl-/.test(maps)
      ? 'musl'
      : /\/libc\.so\.6$|\/libc-2\.\d+\.so$/m.test(maps)
        ? 'glibc'
        : null;
  },
  processes: HAS_PROC ? createLinuxProcessTable() : createPsTable(),
  sockets: HAS_PROC ? { findPortOwners, findConnectionOwners: createConnectionOwnerSearch() } : lsofSockets,
  createContainment: createLinuxContainment,
  sandbox: {
    canMount: true,
    load: loadOnce(async () => (await import('./sandbox/index.ts')).createBubblewrapSandbox()),
  },
  tryRights,
  loadKernel,
  exchangeFolders: (one, other) =>
    callLibrary((library) => {
      const renameat2 = library.func('int renameat2(int, const char *, int, const char *, unsigned int)');
      return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) === 0;
    }, false),
  trimAllocator: () =>
    callLibrary((library) => {
      library.func('int malloc_trim(size_t)')(0);
    }, undefined),
  openFiles: existsSync(OPEN_FILES) ? OPEN_FILES : null,
  readBootId: () => readText('/proc/sys/kernel/random/boot_id')?.trim() || null,
  findNetworkFileSystem: (type) =>
    NETWORK_FILE_SYSTEMS.get(type) ?? (isWsl() ? (WINDOWS_DRIVES.get(type) ?? null) : null),
  findServiceManager: () => (existsSync('/run/systemd/system') ? 'systemd' : null),
  buildNotice(env, { title, text }) {
    const hasDesktop = env.DBUS_SESSION_BUS_ADDRESS && (env.DISPLAY || env.WAYLAND_DISPLAY);
    const notifySend = hasDesktop ? findOnPath('notify-send', env) : undefined;
    // Only the summary is plain text everywhere; a body may be markup.
    return notifySend === undefined ? null : [notifySend, '--app-name=svc', '--', `${title}: ${text}`];
  },
  findOpener: (env) =>
    (isWsl() ? findOnPath('wslview', env) : undefined) ??
    (env.DISPLAY || env.WAYLAND_DISPLAY ? findOnPath('xdg-open', env) : undefined) ??
    (isWsl() ? findOnPath('explorer.exe', env) : undefined) ??
    null,
};

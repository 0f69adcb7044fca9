import { release } from 'node:os';
import { findOnPath } from '../../base/find-program.ts';
import { loadOnce } from '../../base/load-once.ts';
import { runProgramSync } from '../../base/run-program.ts';
import { MARKS_ONLY } from '../containment.ts';
import { callLibrary, type Getsockopt, loadKernelCalls, readSocketOption } from '../kernel-library.ts';
import { lsofSockets } from '../lsof-sockets.ts';
import type { Platform, SocketPeer } from '../platform.ts';
import { createPsTable } from '../ps-table.ts';
import { createLibprocTable } from './libproc.ts';

// macOS, as its manual describes it. No such machine was at hand when this was written.

// sys/un.h
const SOL_LOCAL = 0;
const LOCAL_PEERCRED = 1;
const LOCAL_PEERPID = 2;
// renamex_np(2)
const RENAME_SWAP = 2;

/** Takes its words as arguments, so that no text becomes part of the script. */
const NOTICE_SCRIPT = [
  'on run words',
  'display notification (item 2 of words) with title (item 1 of words)',
  'end run',
];

/** struct xucred, and the pid separately. */
function readPeer(call: Getsockopt, fd: number): SocketPeer | null {
  const pid = readSocketOption(call, fd, SOL_LOCAL, LOCAL_PEERPID, 4);
  const credentials = readSocketOption(call, fd, SOL_LOCAL, LOCAL_PEERCRED, 76);
  return pid === null || credentials === null
    ? null
    : { pid: pid.readInt32LE(0), uid: credentials.readUInt32LE(4) };
}

export const darwin: Platform = {
  name: 'darwin',
  ways: { processTable: 'libproc, ps', fileWatch: 'FSEvents', containment: null },
  readVersion() {
    const { exitCode, stdout } = runProgramSync('sw_vers', ['-productVersion'], { timeoutMs: 5000 });
    return exitCode === 0 && stdout.trim() !== '' ? `macOS ${stdout.trim()}` : `darwin ${release()}`;
  },
  findLibc: () => null,
  processes: createLibprocTable(createPsTable()),
  sockets: lsofSockets,
  createContainment: () => MARKS_ONLY,
  sandbox: {
    canMount: false,
    load: loadOnce(async () => (await import('./sandbox/index.ts')).createSeatbeltSandbox()),
  },
  tryRights: async () => [],
  loadKernel: () => loadKernelCalls(readPeer, () => () => undefined),
  exchangeFolders: (one, other) =>
    callLibrary(
      (library) =>
        library.func('int renamex_np(const char *, const char *, unsigned int)')(one, other, RENAME_SWAP) ===
        0,
      false,
    ),
  trimAllocator: async () => undefined,
  openFiles: null,
  readBootId() {
    const { exitCode, stdout } = runProgramSync('sysctl', ['-n', 'kern.bootsessionuuid'], {
      timeoutMs: 5000,
    });
    return exitCode === 0 ? stdout.trim() || null : null;
  },
  findNetworkFileSystem: () => null,
  findServiceManager: () => 'launchd',
  buildNotice(env, { title, text }) {
    const osascript = findOnPath('osascript', env);
    return osascript === undefined
      ? null
      : [osascript, ...NOTICE_SCRIPT.flatMap((line) => ['-e', line]), title, text];
  },
  findOpener: (env) => findOnPath('open', env) ?? null,
};

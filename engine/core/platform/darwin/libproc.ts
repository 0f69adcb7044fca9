import { createRequire } from 'node:module';
import type { ProcessEntry, ProcessTable } from '../platform.ts';

// libproc.h, sys/proc_info.h, sys/sysctl.h and sys/proc.h of macOS. No such machine was at hand: the sizes and offsets
// are those of 64 bits, and a table whose answer about this process is wrong is not used.
const PROC_ALL_PIDS = 1;
const BSD_INFO = { flavor: 3, bytes: 136 };
const TASK_INFO = { flavor: 4, bytes: 96 };
const FOLDERS = { flavor: 9, bytes: 2352, currentAt: 152, pathBytes: 1024 };
const CTL_KERN = 1;
const KERN_PROCARGS2 = 49;
const SZOMB = 5;
const ESRCH = 3;
/** Of the arguments and environment together (ARG_MAX). */
const MOST_ARGUMENT_BYTES = 1024 * 1024;
/** How much a start time may differ from what Node says of this process, seconds. */
const MOST_DIFFERENCE = 5;

/** The calls of the system. */
export interface ProcessCalls {
  /** Returns the bytes of proc_pidinfo(); null if it fails. `errno` then says why. */
  readInfo(pid: number, info: { flavor: number; bytes: number }): Buffer | null;
  /** Returns the bytes of sysctl() with KERN_PROCARGS2; null for processes of other users. */
  readArguments(pid: number): Buffer | null;
  listPids(): number[] | null;
  /** getsid(2); -1 if it fails. */
  findSession(pid: number): number;
  errno(): number;
}

/** Loads them; null if the C library lacks one, or koffi does not load. */
function loadProcessCalls(): ProcessCalls | null {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi').default;
    const library = koffi.load(null);
    const pidinfo = library.func(
      'int proc_pidinfo(int pid, int flavor, uint64_t argument, _Out_ uint8_t *buffer, int size)',
    );
    const listpids = library.func(
      'int proc_listpids(uint32_t type, uint32_t info, _Out_ uint8_t *buffer, int size)',
    );
    const sysctl = library.func(
      'int sysctl(int *name, uint32_t length, _Out_ uint8_t *value, _Inout_ size_t *size, void *given, size_t bytes)',
    );
    const getsid = library.func('int getsid(int pid)');
    return {
      readInfo(pid, { flavor, bytes }) {
        const buffer = Buffer.alloc(bytes);
        // With the argument 1 also for a process that has ended.
        return pidinfo(pid, flavor, flavor === BSD_INFO.flavor ? 1 : 0, buffer, bytes) === bytes
          ? buffer
          : null;
      },
      readArguments(pid) {
        const buffer = Buffer.alloc(MOST_ARGUMENT_BYTES);
        const size = [buffer.length];
        const name = [CTL_KERN, KERN_PROCARGS2, pid];
        return sysctl(name, name.length, buffer, size, null, 0) === 0 ? buffer.subarray(0, size[0]) : null;
      },
      listPids() {
        const buffer = Buffer.alloc(4 * 100_000);
        const bytes = listpids(PROC_ALL_PIDS, 0, buffer, buffer.length) as number;
        return bytes <= 0
          ? null
          : Array.from({ length: bytes / 4 }, (_, at) => buffer.readInt32LE(4 * at)).filter((pid) => pid > 0);
      },
      findSession: (pid) => getsid(pid) as number,
      errno: () => koffi.errno(),
    };
  } catch {
    return null;
  }
}

/** Reads struct proc_bsdinfo. */
const readEntry = (info: Buffer, sid: number): ProcessEntry => ({
  pid: info.readInt32LE(12),
  ppid: info.readInt32LE(16),
  pgid: info.readInt32LE(100),
  sid: Math.max(0, sid),
  zombie: info.readUInt32LE(4) === SZOMB,
  // Whole seconds, as of `ps`: a process that only that may read must have the same start.
  start: String(info.readBigUInt64LE(120)),
});

/** Splits what KERN_PROCARGS2 returns: a number, the program, its arguments and its environment, with zeros between. */
function splitArguments(bytes: Buffer): { args: string[]; environment: string[] } | null {
  if (bytes.length < 4) return null;
  const count = bytes.readInt32LE(0);
  const [, ...rest] = bytes.toString('utf8', 4).split('\0');
  // The program's path is padded with zeros.
  const first = rest.findIndex((text) => text !== '');
  if (first === -1) return null;
  const texts = rest.slice(first);
  const environment = texts.slice(count);
  const end = environment.indexOf('');
  return { args: texts.slice(0, count), environment: end === -1 ? environment : environment.slice(0, end) };
}

/** Reports whether the calls answer rightly about this process. */
function answersRightly(calls: ProcessCalls): boolean {
  const info = calls.readInfo(process.pid, BSD_INFO);
  if (info === null) return false;
  const { pid, ppid, start } = readEntry(info, 0);
  const began = Date.now() / 1000 - process.uptime();
  return pid === process.pid && ppid === process.ppid && Math.abs(Number(start) - began) < MOST_DIFFERENCE;
}

/**
 * Reads single processes by libproc, which is faster than starting `ps` and separates variables exactly; the table of
 * `ps` answers for processes of other users, for the whole list, and for everything if libproc does not work here.
 */
export function createLibprocTable(
  byPs: ProcessTable,
  load: () => ProcessCalls | null = loadProcessCalls,
): ProcessTable {
  let loaded: ProcessCalls | null | undefined;
  function findCalls(): ProcessCalls | null {
    if (loaded === undefined) {
      const calls = load();
      loaded = calls !== null && answersRightly(calls) ? calls : null;
    }
    return loaded;
  }
  const readOwn = (pid: number) => {
    const bytes = findCalls()?.readArguments(pid) ?? null;
    return bytes === null ? null : splitArguments(bytes);
  };
  const readVariable = (pid: number, name: string): string | null =>
    readOwn(pid)
      ?.environment.find((each) => each.startsWith(`${name}=`))
      ?.slice(name.length + 1) ?? null;
  function readFolder(calls: ProcessCalls, pid: number): string | null {
    const info = calls.readInfo(pid, FOLDERS);
    if (info === null) return null;
    const path = info.toString('utf8', FOLDERS.currentAt, FOLDERS.currentAt + FOLDERS.pathBytes);
    return path.slice(0, path.indexOf('\0')) || null;
  }
  return {
    ...byPs,
    read(pid) {
      const calls = findCalls();
      const info = calls?.readInfo(pid, BSD_INFO) ?? null;
      if (calls === null) return byPs.read(pid);
      if (info !== null) return readEntry(info, calls.findSession(pid));
      return calls.errno() === ESRCH ? 'gone' : byPs.read(pid);
    },
    listPids: () => findCalls()?.listPids() ?? byPs.listPids(),
    readVariable: (pid, name) =>
      findCalls() === null ? byPs.readVariable(pid, name) : readVariable(pid, name),
    readVariables(pids, name) {
      if (findCalls() === null) return byPs.readVariables(pids, name);
      return new Map(
        pids.flatMap((pid) => {
          const value = readVariable(pid, name);
          return value === null ? [] : [[pid, value] as const];
        }),
      );
    },
    readArguments: (pid) => readOwn(pid)?.args ?? byPs.readArguments(pid),
    readFolder(pid) {
      const calls = findCalls();
      return calls === null ? byPs.readFolder(pid) : readFolder(calls, pid);
    },
    readFolders() {
      const calls = findCalls();
      const pids = calls?.listPids() ?? null;
      if (calls === null || pids === null) return byPs.readFolders();
      return new Map(
        pids.flatMap((pid) => {
          const folder = readFolder(calls, pid);
          return folder === null ? [] : [[pid, folder] as const];
        }),
      );
    },
    readMemory(pid) {
      const info = findCalls()?.readInfo(pid, TASK_INFO) ?? null;
      return info === null ? byPs.readMemory(pid) : Number(info.readBigUInt64LE(8));
    },
  };
}

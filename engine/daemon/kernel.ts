import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** The process at the other end of a local socket, as the kernel recorded it when it connected. */
export interface SocketPeer {
  pid: number;
  uid: number;
}

/** Kernel calls that Node does not offer. */
export interface KernelCalls {
  /** Returns null if this platform does not report it. */
  peerOf(socket: Socket): SocketPeer | null;
  /**
   * Makes orphans below this process its own children instead of init's, so that left-over processes of a run or
   * program can still be traced here, and reaps them. Returns the function that stops this.
   */
  adoptOrphans(): () => void;
  /** Explains why this does not work here; null if it does. */
  problem: string | null;
}

// socket(7), asm-generic/socket.h; of the processors that Node runs on, only ppc64 has another number.
const SOL_SOCKET = 1;
const SO_PEERCRED = process.arch === 'ppc64' ? 21 : 17;
// sys/un.h of macOS.
const SOL_LOCAL = 0;
const LOCAL_PEERCRED = 1;
const LOCAL_PEERPID = 2;
// prctl(2), waitpid(2)
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;

/** Longer than Node takes to reap its own ended child. */
const CLEAR_MS = 1000;

type Getsockopt = (fd: number, level: number, name: number, value: Buffer, length: number[]) => number;

const readDescriptor = (socket: Socket): number => {
  const { fd } = (socket as Socket & { _handle?: { fd?: number } | null })._handle ?? {};
  return fd ?? -1;
};

function readSocketOption(
  call: Getsockopt,
  fd: number,
  level: number,
  name: number,
  bytes: number,
): Buffer | null {
  const value = Buffer.alloc(bytes);
  return call(fd, level, name, value, [bytes]) === 0 ? value : null;
}

/** struct ucred of unix(7). */
function readLinuxPeer(call: Getsockopt, fd: number): SocketPeer | null {
  const found = readSocketOption(call, fd, SOL_SOCKET, SO_PEERCRED, 12);
  return found === null ? null : { pid: found.readInt32LE(0), uid: found.readUInt32LE(4) };
}

/** struct xucred, and the pid separately. Not tested for lack of such a machine. */
function readDarwinPeer(call: Getsockopt, fd: number): SocketPeer | null {
  const pid = readSocketOption(call, fd, SOL_LOCAL, LOCAL_PEERPID, 4);
  const credentials = readSocketOption(call, fd, SOL_LOCAL, LOCAL_PEERCRED, 76);
  return pid === null || credentials === null
    ? null
    : { pid: pid.readInt32LE(0), uid: credentials.readUInt32LE(4) };
}

/** Lists ended children of this process that were not reaped, each as pid and start time. */
function listEndedChildren(): string[] {
  const found: string[] = [];
  for (const thread of readdirSync('/proc/self/task')) {
    for (const pid of readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ')) {
      if (pid === '') continue;
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') found.push(`${pid} ${fields[19]}`);
    }
  }
  return found;
}

/**
 * Loads the C library through koffi. Node cannot identify the other end of a local socket, and a client's own claims
 * are not trusted. Never throws; see `problem`.
 */
export async function loadKernel(): Promise<KernelCalls> {
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(null);
    const getsockopt: Getsockopt = library.func(
      'int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *length)',
    );
    const isLinux = process.platform === 'linux';
    const peerOf = isLinux ? readLinuxPeer : process.platform === 'darwin' ? readDarwinPeer : null;
    return {
      peerOf: (socket) => peerOf?.(getsockopt, readDescriptor(socket)) ?? null,
      adoptOrphans() {
        if (!isLinux) return () => undefined;
        const prctl = library.func('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
        const waitpid = library.func('int waitpid(int pid, void *status, int options)');
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        let before = new Set<string>();
        const timer = setInterval(() => {
          try {
            const ended = listEndedChildren();
            // Node reaps its own well before they are seen a second time.
            for (const child of ended)
              if (before.has(child)) waitpid(Number.parseInt(child, 10), null, WNOHANG);
            before = new Set(ended);
          } catch {
            // One of them has just ended; the next round gets the rest.
          }
        }, CLEAR_MS);
        timer.unref();
        return () => {
          clearInterval(timer);
          prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
        };
      },
      problem: peerOf === null ? `not known for ${process.platform}` : null,
    };
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { peerOf: () => null, adoptOrphans: () => () => undefined, problem };
  }
}

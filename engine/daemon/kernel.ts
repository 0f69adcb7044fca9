import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** The process at the other end of a local socket, as the kernel noted it when it connected. */
export interface Peer {
  pid: number;
  uid: number;
}

/** What Node does not offer of the kernel. */
export interface Kernel {
  /** Null when this machine does not tell. */
  peerOf(socket: Socket): Peer | null;
  /**
   * From now on whatever loses its parent below this process becomes its child instead of init's, so that what a run or
   * a program of the engine leaves behind still leads here. Returns what ends the clearing away of such children.
   */
  adoptOrphans(): () => void;
  /** Why nothing of this works here; null when it does. */
  problem: string | null;
}

// socket(7), asm-generic/socket.h; the numbers are others on the processors that Node runs on and that are named here.
const SOL_SOCKET = 1;
const SO_PEERCRED = process.arch === 'ppc64' ? 21 : 17;
// sys/un.h of macOS.
const SOL_LOCAL = 0;
const LOCAL_PEERCRED = 1;
const LOCAL_PEERPID = 2;
// prctl(2), waitpid(2)
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;

/** Longer than Node itself takes to fetch a child of its own that has ended. */
const CLEAR_MS = 1000;

type Getsockopt = (fd: number, level: number, name: number, value: Buffer, length: number[]) => number;

const fdOf = (socket: Socket): number => {
  const { fd } = (socket as Socket & { _handle?: { fd?: number } | null })._handle ?? {};
  return fd ?? -1;
};

function optionOf(call: Getsockopt, fd: number, level: number, name: number, bytes: number): Buffer | null {
  const value = Buffer.alloc(bytes);
  return call(fd, level, name, value, [bytes]) === 0 ? value : null;
}

/** struct ucred of unix(7). */
function linuxPeer(call: Getsockopt, fd: number): Peer | null {
  const found = optionOf(call, fd, SOL_SOCKET, SO_PEERCRED, 12);
  return found === null ? null : { pid: found.readInt32LE(0), uid: found.readUInt32LE(4) };
}

/** struct xucred, and the pid apart from it. Not tested: no such machine was at hand. */
function darwinPeer(call: Getsockopt, fd: number): Peer | null {
  const pid = optionOf(call, fd, SOL_LOCAL, LOCAL_PEERPID, 4);
  const credentials = optionOf(call, fd, SOL_LOCAL, LOCAL_PEERCRED, 76);
  return pid === null || credentials === null
    ? null
    : { pid: pid.readInt32LE(0), uid: credentials.readUInt32LE(4) };
}

/** The children of this process that have ended and that nobody has fetched, as pid and start time. */
function endedChildren(): string[] {
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
 * Calls the C library of this very process, through koffi: Node has no way to ask who is at the other end of a local
 * socket, and a client's own word is worth nothing. Never throws; see `problem`.
 */
export async function loadKernel(): Promise<Kernel> {
  try {
    const { default: koffi } = await import('koffi');
    const library = koffi.load(null);
    const getsockopt: Getsockopt = library.func(
      'int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *length)',
    );
    const isLinux = process.platform === 'linux';
    const peerOf = isLinux ? linuxPeer : process.platform === 'darwin' ? darwinPeer : null;
    return {
      peerOf: (socket) => peerOf?.(getsockopt, fdOf(socket)) ?? null,
      adoptOrphans() {
        if (!isLinux) return () => undefined;
        const prctl = library.func('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
        const waitpid = library.func('int waitpid(int pid, void *status, int options)');
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        let before = new Set<string>();
        const timer = setInterval(() => {
          try {
            const ended = endedChildren();
            // Node's own are fetched by it well before they are seen a second time.
            for (const child of ended)
              if (before.has(child)) waitpid(Number.parseInt(child, 10), null, WNOHANG);
            before = new Set(ended);
          } catch {
            // One of them has just gone; there is a next time.
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

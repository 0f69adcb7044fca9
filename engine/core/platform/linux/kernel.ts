import { readdirSync, readFileSync } from 'node:fs';
import { type Getsockopt, type KernelLibrary, loadKernelCalls, readSocketOption } from '../kernel-library.ts';
import type { KernelCalls, SocketPeer } from '../platform.ts';
import { parseStat } from './process-table.ts';

// socket(7), asm-generic/socket.h; of the processors that Node runs on, only ppc64 has another number.
const SOL_SOCKET = 1;
const SO_PEERCRED = process.arch === 'ppc64' ? 21 : 17;
// prctl(2), waitpid(2)
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;

/** Longer than Node takes to reap its own ended child. */
const CLEAR_MS = 1000;

/** struct ucred of unix(7). */
function readPeer(call: Getsockopt, fd: number): SocketPeer | null {
  const found = readSocketOption(call, fd, SOL_SOCKET, SO_PEERCRED, 12);
  return found === null ? null : { pid: found.readInt32LE(0), uid: found.readUInt32LE(4) };
}

/** Lists ended children of this process that were not reaped, each as pid and start time. */
function listEndedChildren(): string[] {
  const found: string[] = [];
  for (const thread of readdirSync('/proc/self/task')) {
    for (const pid of readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ')) {
      if (pid === '') continue;
      const entry = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      if (entry?.zombie) found.push(`${pid} ${entry.start}`);
    }
  }
  return found;
}

function adoptOrphans(library: KernelLibrary): () => void {
  const prctl = library.func('int prctl(int option, ulong a, ulong b, ulong c, ulong d)');
  const waitpid = library.func('int waitpid(int pid, void *status, int options)');
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  let before = new Set<string>();
  const timer = setInterval(() => {
    try {
      const ended = listEndedChildren();
      // Node reaps its own well before they are seen a second time.
      for (const child of ended) if (before.has(child)) waitpid(Number.parseInt(child, 10), null, WNOHANG);
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
}

export const loadKernel = (): Promise<KernelCalls> => loadKernelCalls(readPeer, adoptOrphans);

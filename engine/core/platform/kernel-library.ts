import type { Socket } from 'node:net';
import type { KernelCalls } from './platform.ts';

export type Getsockopt = (fd: number, level: number, name: number, value: Buffer, length: number[]) => number;

/** The C library of this process. */
export type KernelLibrary = Awaited<ReturnType<typeof openLibrary>>;

async function openLibrary() {
  const { default: koffi } = await import('koffi');
  return koffi.load(null);
}

const readDescriptor = (socket: Socket): number => {
  const { fd } = (socket as Socket & { _handle?: { fd?: number } | null })._handle ?? {};
  return fd ?? -1;
};

/** Reads an option of a socket; null if the kernel has none. */
export function readSocketOption(
  call: Getsockopt,
  fd: number,
  level: number,
  name: number,
  bytes: number,
): Buffer | null {
  const value = Buffer.alloc(bytes);
  return call(fd, level, name, value, [bytes]) === 0 ? value : null;
}

/** Calls a function of the C library; returns `otherwise` if that cannot be loaded, or lacks it. */
export async function callLibrary<T>(call: (library: KernelLibrary) => T, otherwise: T): Promise<T> {
  try {
    return call(await openLibrary());
  } catch {
    return otherwise;
  }
}

/** Loads the calls of one system. Never throws. */
export async function loadKernelCalls(
  readPeer: (call: Getsockopt, fd: number) => ReturnType<KernelCalls['peerOf']>,
  adoptOrphans: (library: KernelLibrary) => () => void,
): Promise<KernelCalls> {
  try {
    const library = await openLibrary();
    const getsockopt: Getsockopt = library.func(
      'int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *length)',
    );
    return {
      peerOf: (socket) => readPeer(getsockopt, readDescriptor(socket)),
      adoptOrphans: () => adoptOrphans(library),
      problem: null,
    };
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { peerOf: () => null, adoptOrphans: () => () => undefined, problem };
  }
}

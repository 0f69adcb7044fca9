import { readFileSync } from 'node:fs';
import { SvcError } from '../../../base/errors.ts';

/** ioctls that insert input for the person's shell: the way out of a sandbox that shares their terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** The kernel's architecture ids with their ioctl numbers: native, then 32-bit. */
const PROCESSORS: Partial<Record<NodeJS.Architecture, readonly { arch: number; ioctl: number }[]>> = {
  x64: [
    { arch: 0xc000003e, ioctl: 16 },
    { arch: 0x40000003, ioctl: 54 },
  ],
  arm64: [
    { arch: 0xc00000b7, ioctl: 29 },
    { arch: 0x40000028, ioctl: 54 },
  ],
};
/** System call numbers from here on are x32's, a second way to everything on x64. */
const X32 = 0x40000000;

// The classic BPF instructions and offsets used here; see linux/seccomp.h.
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCH_AT = 4;
/** The lower half of the second argument; the kernel ignores the rest. */
const REQUEST_AT = 24;
const ALLOW = 0x7fff0000;
const failWith = (errno: number): number => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;

type Instruction = readonly [code: number, value: number, then?: number, otherwise?: number];

/**
 * Builds a system call filter for bubblewrap's `--seccomp` that refuses to insert terminal input. Null for an
 * unsupported processor.
 */
export function buildTerminalFilter(processor: NodeJS.Architecture = process.arch): Buffer | null {
  const known = PROCESSORS[processor];
  if (known === undefined) return null;
  // A jump skips the number of instructions that it names.
  const instructions: Instruction[] = [
    [LOAD, ARCH_AT],
    ...known.flatMap(({ arch, ioctl }): Instruction[] => {
      const body: Instruction[] = [
        [LOAD, NUMBER_AT],
        [IF_AT_LEAST, X32, 0, 1],
        [RETURN, failWith(ENOSYS)],
        [IF_EQUAL, ioctl, 0, 3],
        [LOAD, REQUEST_AT],
        [IF_EQUAL, TIOCSTI, 2],
        [IF_EQUAL, TIOCLINUX, 1],
        [RETURN, ALLOW],
        [RETURN, failWith(EPERM)],
      ];
      return [[IF_EQUAL, arch, 0, body.length], ...body];
    }),
    // An unexpected architecture.
    [RETURN, failWith(ENOSYS)],
  ];
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [at, [code, value, then = 0, otherwise = 0]] of instructions.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(then, at * 8 + 2);
    bytes.writeUInt8(otherwise, at * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4);
  }
  return bytes;
}

/**
 * Chooses what prevents a confined program from typing for its person: a filter, or null if the kernel does it.
 * Throws `confinement_unavailable`.
 */
export function chooseTerminalGuard(): Buffer | null {
  const filter = buildTerminalFilter();
  if (filter !== null || readLegacyTiocsti() === '0') return filter;
  throw new SvcError(
    'confinement_unavailable',
    `a program on your terminal could type input for you here (TIOCSTI on ${process.arch})`,
    { hint: 'sysctl dev.tty.legacy_tiocsti=0 (Linux 6.2 or later) prevents it' },
  );
}

function readLegacyTiocsti(): string | null {
  try {
    return readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').trim();
  } catch {
    return null;
  }
}

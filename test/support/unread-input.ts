import { closeSync, constants, openSync } from 'node:fs';
import koffi from 'koffi';

/** Asks how many bytes can be read at once, on Linux. */
const FIONREAD = 0x541b;

const ioctl = koffi.load(null).func('int ioctl(int device, unsigned long request, _Out_ int *answer)');

/** How many bytes that were typed at a terminal its program has not read yet; 0 where that cannot be known. */
export function countUnreadInput(tty: string): number {
  if (process.platform !== 'linux') return 0;
  const device = openSync(tty, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  try {
    const answer = [0];
    return ioctl(device, FIONREAD, answer) === 0 ? (answer[0] ?? 0) : 0;
  } finally {
    closeSync(device);
  }
}

import { closeSync, constants, openSync } from 'node:fs';
import koffi from 'koffi';

/** Returns how many bytes can be read now, on Linux. */
const FIONREAD = 0x541b;

const ioctl = koffi.load(null).func('int ioctl(int device, unsigned long request, _Out_ int *answer)');

/** Returns how many typed bytes the program has not read from its terminal; 0 if unknown. */
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

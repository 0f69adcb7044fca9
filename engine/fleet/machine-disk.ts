import type { Heartbeat } from './messages.ts';

/** With less space a run would end in the middle, bytes. */
const LEAST_DISK_BYTES = 512 * 1024 * 1024;

/** Reports whether a machine has space for another run, or has not told. */
export const hasDisk = (load: Heartbeat | null): boolean =>
  load === null || load.diskFreeBytes === null || load.diskFreeBytes >= LEAST_DISK_BYTES;

import { accessSync, constants, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate } from './private-files.ts';

/** Where a confined run finds the engine: the folder of its own socket (see engine/daemon/run-sockets.ts). */
export const SEAT_FOLDER = '/run/svc';

const MOST_BYTES = 64 * 1024;

/**
 * What the engine says to a confined run about where it is; null outside of one. The sandbox mounts that folder read-only,
 * which no repository can bring along, nor a program that may merely make a folder there.
 */
export function readSeatFolder(): string | null {
  if (lstatSync(SEAT_FOLDER, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  try {
    accessSync(SEAT_FOLDER, constants.W_OK);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') return null;
  }
  return readPrivate(join(SEAT_FOLDER, 'daemon.json'), MOST_BYTES);
}

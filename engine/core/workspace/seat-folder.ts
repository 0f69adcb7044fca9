import { accessSync, constants, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate } from '../base/private-files.ts';

/** The location of the engine for a confined run: the folder of its own socket (see engine/workers/runner/run-sockets.ts). */
export const SEAT_FOLDER = '/run/svc';

const MOST_BYTES = 64 * 1024;

/**
 * Reports whether this is a confined run. The sandbox mounts the folder read-only, which neither a repository nor a
 * program that may merely create a folder there can fake.
 */
export function isInSandbox(): boolean {
  if (lstatSync(SEAT_FOLDER, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  try {
    accessSync(SEAT_FOLDER, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** Returns the engine's address for a confined run; null outside one, and after the end of its run. */
export const readSeatFolder = (): string | null =>
  isInSandbox() ? readPrivate(join(SEAT_FOLDER, 'daemon.json'), MOST_BYTES) : null;

import { accessSync, constants, lstatSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { readPrivate } from '../base/private-files.ts';

/** The location of the engine for a confined run: the folder with its own socket (see engine/workers/runner/run-sockets.ts). */
export const SEAT_FOLDER = '/run/svc';

/** Names the folder of a run's own socket, if its engine is on another machine. */
export const SEAT_VARIABLE = 'SVC_SEAT';

/** Reports whether this process is in a run whose engine is on another machine, and may be out of reach for minutes. */
export const isEngineElsewhere = (env: NodeJS.ProcessEnv): boolean => env[SEAT_VARIABLE] !== undefined;

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

/**
 * Finds the folder with the own socket of the run that this process belongs to: in a sandbox, or on a machine without
 * its engine, which names it in `SVC_SEAT`. Null for any other process. A process that sets the variable gets the seat of a
 * worker, never a higher one, since the socket decides the seat.
 */
export function findSeatFolder(env: NodeJS.ProcessEnv): string | null {
  if (isInSandbox()) return SEAT_FOLDER;
  const named = env[SEAT_VARIABLE];
  return named !== undefined && isAbsolute(named) ? named : null;
}

/** Returns the record in a run's own folder; null after the end of its run. */
export const readSeatFolder = (folder: string): string | null =>
  readPrivate(join(folder, 'daemon.json'), MOST_BYTES);

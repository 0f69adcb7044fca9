import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PATH } from '../../../core/base/find-program.ts';

/**
 * The shell program that runs every worker, and the two files it leaves in the run directory:
 *
 * - `started` is created exclusively before the agent starts and holds the wrapper's pid, so that a run starts at
 *   most once, even when the daemon dies between spawning and recording it;
 * - `exit` holds the agent's exit code, so that it outlives the daemon.
 */

/** The wrapper's exit code when `started` already existed; the agent then did not run. */
export const ALREADY_STARTED = 96;

/**
 * `/bin/sh -c SCRIPT svc-worker <run directory> <program> <argument>…`: everything arrives as "$@", so nothing is
 * interpolated. TERM is caught, not ignored: an ignored signal would be inherited by the agent, a caught one is reset
 * to its default there. Only from the agent's end on is it ignored, so that `mv` is not killed in the middle.
 */
export const SCRIPT = `run=$1; shift
term=
trap 'term=1' TERM
trap : INT HUP QUIT
set -C
{ printf '%s\\n' "$$" >"$run/started"; } 2>/dev/null || exit ${ALREADY_STARTED}
set +C
if [ -n "$term" ]; then code=143; else "$@"; code=$?; fi
trap '' TERM INT HUP QUIT
PATH=${DEFAULT_PATH}
printf '%s\\n' "$code" >"$run/exit.tmp" && mv -f "$run/exit.tmp" "$run/exit"
exit "$code"
`;

const startedFile = (runDir: string): string => join(runDir, 'started');

function readNumber(file: string): number | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  // Without its newline the number is still being written.
  return /^\d+\n$/.test(text) ? Number(text) : null;
}

/** Reads the agent's exit code as the wrapper wrote it, or null while it runs or if the wrapper was killed. */
export const readExit = (runDir: string): number | null => readNumber(join(runDir, 'exit'));

/** Reports whether a run was given up: its only start is used up by `claimStart`. */
export const isClaimed = (runDir: string): boolean => readNumber(startedFile(runDir)) === 0;

/** Reads the pid of the wrapper, or null if the run was not started (a claim by `claimStart` counts as not started). */
export function readStarted(runDir: string): number | null {
  const pid = readNumber(startedFile(runDir));
  return pid === 0 ? null : pid;
}

/**
 * Claims the run's only start, so that a wrapper that is still starting cannot. True: no wrapper will ever run the
 * agent of this run, so it is safe to start again in a new run directory. False: it did start.
 */
export function claimStart(runDir: string): boolean {
  let file: number;
  try {
    file = openSync(startedFile(runDir), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    // A host that claimed it and died before starting again leaves the claim.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return isClaimed(runDir);
    throw error;
  }
  try {
    writeSync(file, '0\n');
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return true;
}

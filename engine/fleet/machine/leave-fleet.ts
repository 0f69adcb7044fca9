import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../core/base/errors.ts';
import { readPrivate } from '../../core/base/private-files.ts';
import { platform } from '../../core/platform/index.ts';
import { holdHostLock } from '../../storage/index.ts';
import { createProcesses } from '../../workers/runner/processes/index.ts';
import { locateMachineFolders, type MachineFolders } from './machine-folders.ts';
import { listRecordedRuns } from './run-records.ts';

/** How long a runner may take to end, ms. */
const END_MS = 15_000;
const LOOK_MS = 100;

/** Ends the processes of all runs, as only their own containment finds them. */
async function endRuns({ data, agents }: MachineFolders, env: NodeJS.ProcessEnv): Promise<void> {
  const processes = createProcesses({ containment: platform.createContainment({ data, env }) });
  try {
    for (const { runId } of listRecordedRuns(agents)) await processes.sweep(runId);
  } finally {
    await processes.close();
  }
}

/**
 * Ends the runner of a fleet on this machine and all of its runs, and removes its folders with all worktrees and mirrors in them. Throws
 * `already_running` if it does not end.
 */
export async function leaveFleet(fleet: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folders = locateMachineFolders(fleet, env);
  const { root, data } = folders;
  if (!existsSync(data)) return;
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      const lock = holdHostLock(data);
      await endRuns(folders, env).finally(() => lock.release());
      break;
    } catch (error) {
      const isHeld = error instanceof SvcError && error.code === 'already_running';
      if (!isHeld || waited >= END_MS) throw error;
      // Its own pid, which the lock proves to be alive.
      const pid = Number(readPrivate(`${data}/host.pid`, 32)?.trim());
      if (waited === 0 && Number.isInteger(pid) && pid > 0) process.kill(pid, 'SIGTERM');
      await delay(LOOK_MS);
    }
  }
  rmSync(root, { recursive: true, force: true });
  try {
    rmdirSync(dirname(root));
  } catch {
    // It works for another fleet too.
  }
}

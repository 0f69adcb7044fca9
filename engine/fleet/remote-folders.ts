import { join } from 'node:path';

/** The folder of all runners of a machine, below its machine home. */
export const RUNNER_FOLDER = 'runner';

/** The folder of a runner for one fleet, below the machine home of its machine. */
export const locateFleetFolder = (fleet: string): string => join(RUNNER_FOLDER, fleet);

/** The end of the path of the session worktrees on every machine of a fleet. */
export const locateRemoteWorktrees = (fleet: string): string =>
  join('/', locateFleetFolder(fleet), '.svc', 'worktrees');

import { join } from 'node:path';

/** The folder of a runner for one fleet, below the machine home of its machine. */
export const locateFleetFolder = (fleet: string): string => join('runner', fleet);

/** The end of the path of the session worktrees on every machine of a fleet. */
export const locateRemoteWorktrees = (fleet: string): string =>
  join('/', locateFleetFolder(fleet), '.svc', 'worktrees');

/** Handling of a data folder that this machine does not know, and of one that git tracks. */

export {
  checkKeptPaths,
  inspectOwnDataFolder,
  listDatabaseFiles,
} from '../../core/workspace/data-folder.ts';
export { checkSocket, resolveSocketPath } from '../../core/workspace/socket-path.ts';
export { adoptDataFolder, setDataFolderAside } from '../../storage/adopt.ts';
export { inspectDataFolder } from '../../storage/inspect-data-folder.ts';
export { repairMovedWorktrees } from '../../workers/runner/worktrees/create/repair-moved.ts';
export { listTrackedFiles, untrackFiles } from '../../workers/runner/worktrees/git/tracked.ts';

/** Handling of a data folder that this machine does not know, and of one that git tracks. */
export { repairMovedWorktrees } from '../runner/worktrees/repair-moved.ts';
export { listTrackedFiles, untrackFiles } from '../runner/worktrees/tracked.ts';
export { adoptDataFolder, setDataFolderAside } from '../storage/adopt.ts';
export { inspectDataFolder } from '../storage/inspect-data-folder.ts';
export {
  checkKeptPaths,
  inspectOwnDataFolder,
  listDatabaseFiles,
} from '../workspace/data-folder.ts';
export { checkSocket, resolveSocketPath } from '../workspace/socket-path.ts';

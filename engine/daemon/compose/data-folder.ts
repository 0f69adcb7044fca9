import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DataPaths } from '../../config/index.ts';
import { isBelowFolder } from '../../core/base/paths.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import {
  checkKeptPaths,
  claimDataFolder,
  dataFolderRefusedError,
  listDatabaseFiles,
} from '../../core/workspace/data-folder.ts';
import { keepLostEngine } from '../../core/workspace/lost-engine.ts';
import { holdHostLock } from '../../storage/index.ts';
import { listTrackedFiles } from '../../workers/runner/worktrees/git/tracked.ts';

/** Verifies that the data folder belongs to this machine, prepares it, and takes its lock. */
export async function takeDataFolder(root: string, paths: DataPaths, env: NodeJS.ProcessEnv) {
  const kept = listDatabaseFiles(paths.db).filter((file) => dirname(file) !== paths.data);
  const tracked = await listTrackedFiles([paths.data, ...kept], env);
  if (tracked[0] !== undefined)
    throw dataFolderRefusedError(
      tracked[0],
      'tracked',
      'is tracked by git, which may replace it at any time',
      'svc adopt --fresh removes it from git, moves the folder aside and starts again',
    );
  const dataId = claimDataFolder({ root, data: paths.data }, env);
  for (const folder of [paths.agents, paths.worktrees])
    if (isBelowFolder(paths.data, folder)) makePrivateFolder(paths.data, folder);
    else mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkKeptPaths(paths);
  const lock = holdHostLock(paths.data);
  return { dataId, lock, lostEngine: keepLostEngine(paths.data) };
}

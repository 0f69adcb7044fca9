import type { DataPaths } from '../../config/index.ts';
import type { Log } from '../../core/base/log.ts';
import { isBelowFolder } from '../../core/base/paths.ts';
import { excludeFromGit } from '../../core/workspace/git-exclude.ts';

/** Has git ignore the folders of svc: otherwise `git stash -u` removes them under the engine. */
export function excludeDataFolders(paths: DataPaths, log: Log): void {
  for (const folder of [paths.data, paths.agents, paths.worktrees]) {
    if (folder !== paths.data && isBelowFolder(paths.data, folder)) continue;
    try {
      excludeFromGit(folder);
    } catch (error) {
      // Not a reason to refuse the start.
      const { message } = error as Error;
      log.warn({ folder, error: message }, 'git could not be set to ignore a folder of svc');
    }
  }
}

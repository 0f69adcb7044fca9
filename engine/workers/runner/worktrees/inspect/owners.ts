import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readCommonDir } from '../git/git-folders.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { realFolder } from '../git/repository.ts';
import { listFolders } from './listing.ts';

/** Lists the worktree folders of a repository, according to its own files. */
function listWorktreeFolders(commonDir: string): string[] {
  const own = join(commonDir, 'worktrees');
  let names: string[];
  try {
    names = readdirSync(own);
  } catch {
    return []; // it has none
  }
  return names.flatMap((name) => {
    const mark = readRegularFile(join(own, name, 'gitdir'))?.trimEnd();
    return mark === undefined ? [] : [dirname(resolve(own, name, mark))];
  });
}

/**
 * Finds the repository of each folder of session worktrees: the one that created it, otherwise the one that the
 * folder names. Projects in several repositories share one folder of worktrees. Calls no git, so it works even if git
 * cannot read a repository.
 * @param commonDirs git folders of the known repositories
 * @returns git folders by the folders' real paths; folders that belong to none and name none are left out
 */
export function findOwners(worktreesDir: string, commonDirs: readonly string[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const folder of listFolders(worktreesDir)) {
    const named = readCommonDir(folder);
    if (named !== null) owners.set(realFolder(folder), named);
  }
  // A repository's own record overrides what a worker has written into the folder.
  for (const commonDir of commonDirs)
    for (const folder of listWorktreeFolders(commonDir))
      owners.set(realFolder(folder), realFolder(commonDir));
  return owners;
}

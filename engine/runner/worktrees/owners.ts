import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { listFolders } from './listing.ts';
import { readCommonDir } from './own-git-dir.ts';
import { realFolder } from './repository.ts';
import { readRegularFile } from './traps.ts';

/** The folders that a repository has worktrees in, as its own files say. */
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
 * Which repository each folder of session worktrees is of: the one that has made it, or else the one that the folder names.
 * Projects in several repositories share one folder of worktrees. Calls no git, so that it holds for one that git cannot read.
 * @param commonDirs git folders of the repositories that are known
 * @returns git folders by the folders' real paths; a folder of none of them, and that names none, is left out
 */
export function findOwners(worktreesDir: string, commonDirs: readonly string[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const folder of listFolders(worktreesDir)) {
    const named = readCommonDir(folder);
    if (named !== null) owners.set(realFolder(folder), named);
  }
  // What a repository knows is its own, whatever a worker has written into the folder.
  for (const commonDir of commonDirs)
    for (const folder of listWorktreeFolders(commonDir))
      owners.set(realFolder(folder), realFolder(commonDir));
  return owners;
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError } from '../../../../core/base/errors.ts';
import { replacePrivate } from '../../../../core/base/private-files.ts';
import { followMove, type MovedFolder } from '../../../../core/workspace/moved-folder.ts';
import { createGit, type GitAccess, RECORDS } from '../git/create-git.ts';
import { listPrivateGits, readPrivateGit, writePrivateGit } from '../git/private-git.ts';

/** A worktree that git could not join to its repository again, and the reason. */
export interface UnrepairedWorktree {
  worktree: string;
  reason: string;
}

/** Rewrites the paths in the engine's records about repositories. */
function moveRecords(agentsDir: string, moved: MovedFolder): void {
  const followPath = (value: unknown): unknown =>
    typeof value === 'string' ? followMove(value, moved) : value;
  for (const name of RECORDS) {
    const file = join(agentsDir, name);
    if (!existsSync(file)) continue;
    const records = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const now = Object.entries(records).map(([path, record]) => [
      followMove(path, moved),
      followPath(record),
    ]);
    replacePrivate(file, JSON.stringify(Object.fromEntries(now)));
  }
  for (const git of listPrivateGits(agentsDir)) {
    const record = readPrivateGit(git);
    if (record === null) continue;
    const { common, worktree } = record;
    writePrivateGit(git, {
      ...record,
      common: followMove(common, moved),
      worktree: followMove(worktree, moved),
    });
  }
}

/**
 * Joins worktrees to their repositories again after the folder of all worktrees has moved: both sides contain the
 * other's path. Returns the worktrees that git could not join.
 */
export async function repairMovedWorktrees(
  access: GitAccess & { agentsDir: string },
  moved: MovedFolder,
  worktrees: readonly { worktree: string; repository: string }[],
): Promise<UnrepairedWorktree[]> {
  moveRecords(access.agentsDir, moved);
  const { git } = createGit(access);
  const failed: UnrepairedWorktree[] = [];
  for (const { worktree, repository } of worktrees) {
    if (!existsSync(worktree)) continue;
    try {
      await git.run(repository, ['worktree', 'repair', worktree]);
      await git.run(worktree, ['rev-parse', '--verify', '--quiet', 'HEAD']);
    } catch (error) {
      failed.push({ worktree, reason: asSvcError(error).message });
    }
  }
  return failed;
}

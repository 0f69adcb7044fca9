import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import { readGitFolders } from '../git/git-folders.ts';
import { verifyOwnGitDir } from '../git/own-git-dir.ts';
import type { GitRepository } from '../git/repository.ts';

/** The location of git-crypt's keys, below the git folder of each checkout. */
const KEYS = 'git-crypt';

/** How often git may remove the folder of a worktree that another git is creating: `git gc` prunes as well. */
const MOST_ATTEMPTS = 6;
/** The message of a git whose new folder below `.git/worktrees` was removed. */
const PRUNED = /worktrees\/[^/\n]+\/[^\n]*No such file or directory/;

interface NewWorktree {
  path: string;
  /** Arguments of `git worktree add`. */
  options: readonly string[];
  /** The branch or commit to check out. */
  from: string;
  /** Ends it, also while a filter waits for a network. */
  signal?: AbortSignal | undefined;
}

/**
 * Creates a worktree with its files. git-crypt looks for its keys in the worktree's own git folder, so they are
 * copied there before a file is checked out; a link would count as a trap. Throws `git_failed`: then the worktree is
 * gone again.
 */
export async function addWorktree(
  git: Git,
  { root, commonDir }: Pick<GitRepository, 'root' | 'commonDir'>,
  { path, options, from, signal }: NewWorktree,
): Promise<void> {
  // `git-crypt unlock` in a linked worktree leaves them there.
  const keys = [readGitFolders(root)?.own ?? commonDir, commonDir]
    .map((folder) => join(folder, KEYS))
    .find((folder) => existsSync(folder));
  const hasKeys = keys !== undefined;
  const add = ['worktree', 'add', '--quiet', ...(hasKeys ? ['--no-checkout'] : [])];
  for (let attempt = 1, all = options; ; attempt += 1) {
    try {
      await git.run(root, [...add, ...all, path, from], { signal });
      break;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !PRUNED.test(asSvcError(error).message)) throw error;
      // It has created the branch before that folder.
      all = all.map((option) => (option === '-b' ? '-B' : option));
    }
  }
  if (!hasKeys) return;
  try {
    cpSync(keys, join(verifyOwnGitDir(path, commonDir), KEYS), { recursive: true });
    await git.run(path, ['reset', '--hard', '--quiet'], { signal });
  } catch (error) {
    await git.run(root, ['worktree', 'remove', '--force', '--force', path], { allowFail: true });
    throw error;
  }
}

import { renameSync, rmSync } from 'node:fs';
import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import { verifyOwnGitDir } from '../git/own-git-dir.ts';
import { compareAndSetRef, resolveCommit } from '../git/refs.ts';
import { mayExist } from '../git/repository.ts';

/** The prefix for removed commits: `refs/svc/pruned/<branch>/<commit>`. */
export const PRUNED_REFS = 'refs/svc/pruned/';

/** Saves a commit under a ref before what held it is deleted. Throws when that cannot be verified. */
export async function savePrunedCommit(
  git: Git,
  root: string,
  branch: string,
  commit: string,
): Promise<string> {
  const ref = `${PRUNED_REFS}${branch}/${commit.slice(0, 12)}`;
  // The ref may exist already; its value is always verified.
  await compareAndSetRef(git, root, ref, commit, null, 'pruned');
  if ((await resolveCommit(git, root, ref)) === commit) return ref;
  throw new SvcError('git_failed', `the commit ${commit} of ${branch} could not be saved under ${ref}`);
}

const asideOf = (path: string): string => `${path}.removing`;

/** Moves a worktree back whose removal was interrupted before anything was deleted. */
export function returnFromAside(path: string): void {
  if (!mayExist(path) && mayExist(asideOf(path))) renameSync(asideOf(path), path);
}

/**
 * Removes a worktree. It is first moved aside, where nothing writes any more, and passed to `settle`, which checks it
 * or saves its contents: if that throws, the worktree is moved back (R1). git is not used for this, since it refuses
 * worktrees with submodules unless forced, and then checks nothing.
 * @returns the result of `settle`; null if only git's entry was left
 */
export async function removeWorktree<T>(
  git: Git,
  { repository: root, commonDir }: { repository: string; commonDir: string },
  path: string,
  settle: (aside: string, gitDir: string) => Promise<T>,
): Promise<T | null> {
  let settled: T | null = null;
  const aside = asideOf(path);
  const doomed = `${path}.removed`;
  // Leftovers of an engine that was killed here: either checked again, or found safe and half deleted.
  returnFromAside(path);
  rmSync(doomed, { recursive: true, force: true, maxRetries: 3 });
  if (mayExist(path)) {
    const gitDir = verifyOwnGitDir(path, commonDir);
    if (mayExist(aside))
      throw new SvcError('worktree_unsafe', `${aside} is in the way`, { hint: 'inspect it by hand' });
    renameSync(path, aside);
    try {
      settled = await settle(aside, gitDir);
    } catch (error) {
      renameSync(aside, path);
      throw error;
    }
    renameSync(aside, doomed);
    rmSync(doomed, { recursive: true, force: true, maxRetries: 3 });
  }
  // Only git's entry is left.
  await git.run(root, ['worktree', 'remove', path]);
  if (mayExist(path)) throw new SvcError('worktree_unsafe', `${path} still exists`);
  return settled;
}

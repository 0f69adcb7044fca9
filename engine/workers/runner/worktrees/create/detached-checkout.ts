import { rm } from 'node:fs/promises';
import { SvcError } from '../../../../core/base/errors.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import { excludeSvcFolder } from '../../../../core/workspace/git-exclude.ts';
import type { Git } from '../git/git.ts';
import { findRepository } from '../git/repository.ts';
import { locateWorktree } from '../inspect/inspect.ts';
import { addWorktree } from './add-worktree.ts';

export interface DetachedCheckout {
  /** Any folder in the repository. */
  repository: string;
  /** The path of the checkout, absolute; it must not exist yet. */
  path: string;
}

/** Checks a commit out in a separate folder, on no branch. Throws `git_failed` for an unknown commit. */
export async function addDetachedCheckout(
  git: Git,
  queue: KeyedQueue,
  { repository, path, commit }: DetachedCheckout & { commit: string },
): Promise<void> {
  const found = await findRepository(git, repository);
  await queue(found.commonDir, async () => {
    excludeSvcFolder(found.commonDir);
    await addWorktree(git, found, { path, options: ['--detach'], from: commit });
  });
  // R4: verify before reporting success.
  if ((await locateWorktree(git, path)).head === commit) return;
  throw new SvcError('git_failed', `the new checkout ${path} is not at ${commit}`);
}

/** Removes such a checkout with everything in it, even a half-created one. */
export async function removeDetachedCheckout(
  git: Git,
  queue: KeyedQueue,
  { repository, path }: DetachedCheckout,
): Promise<void> {
  await rm(path, { recursive: true, force: true });
  const { root, commonDir } = await findRepository(git, repository);
  // Only this entry: `git worktree prune` would also forget a user's worktree on a disk that is not mounted.
  await queue(commonDir, () =>
    git.run(root, ['worktree', 'remove', '--force', '--force', path], { allowFail: true }),
  );
}

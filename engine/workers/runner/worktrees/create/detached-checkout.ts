import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { SvcError } from '../../../../core/base/errors.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import { quoteForShell } from '../../../../core/base/text.ts';
import { excludeSvcFolder } from '../../../../core/workspace/git-exclude.ts';
import type { Git } from '../git/git.ts';
import { isAncestor } from '../git/refs.ts';
import { findRepository, listWorktrees, samePath } from '../git/repository.ts';
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

/**
 * Checks a commit out for a person, or moves their earlier checkout of it forward: their changes stay, and their
 * commits prevent it. Throws `exists` for any other folder or file, `conflict`, `checkout_dirty`, `git_failed`, `worktree_unsafe`.
 * @returns whether the folder is new
 */
export async function openDetachedCheckout(
  git: Git,
  queue: KeyedQueue,
  checkout: DetachedCheckout & { commit: string },
): Promise<boolean> {
  const { repository, path, commit } = checkout;
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    await addDetachedCheckout(git, queue, checkout);
    return true;
  }
  const { commonDir, root } = await findRepository(git, repository);
  const found = (await listWorktrees(git, root)).slice(1).find((entry) => samePath(entry.path, path));
  if (found === undefined || found.ref !== null)
    throw new SvcError('exists', `${path} exists and is not an earlier checkout of this session`, {
      hint: 'name another folder',
    });
  const { head } = await locateWorktree(git, path);
  if (head === commit) return false;
  if (head === null || !(await isAncestor(git, root, head, commit)))
    throw new SvcError('conflict', `${path} has commits that the session does not have`, {
      hint: `keep them on a branch: git -C ${quoteForShell(path)} switch -c <name>; then name another folder`,
    });
  const move = ['checkout', '--quiet', '--detach', commit];
  const { code, stderr } = await queue(commonDir, () => git.run(path, move, { allowFail: true }));
  if (code === 0) return false;
  // git lists the files that it would overwrite, each behind a tab.
  const files = stderr.split('\n').flatMap((line) => (line.startsWith('\t') ? [line.trim()] : []));
  throw files.length === 0
    ? new SvcError('git_failed', `${path} cannot be moved to ${commit.slice(0, 12)}: ${stderr.trim()}`)
    : new SvcError(
        'checkout_dirty',
        `${path} has changes in ${files.slice(0, 3).join(', ')}; nothing was changed`,
        {
          hint: 'commit or stash them there, then open it again',
          data: { path, paths: files },
        },
      );
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

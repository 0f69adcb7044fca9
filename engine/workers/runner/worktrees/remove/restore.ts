import { rmSync } from 'node:fs';
import { SvcError } from '../../../../core/base/errors.ts';
import { makeParentFolder } from '../../../../core/base/private-files.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import { excludeSvcFolder } from '../../../../core/workspace/git-exclude.ts';
import { addWorktree } from '../create/add-worktree.ts';
import type { Git } from '../git/git.ts';
import { branchRef, compareAndSetRef, resolveCommit, resolveIds } from '../git/refs.ts';
import {
  listWorktrees,
  mayExist,
  type RepositoryOrPath,
  resolveRepository,
  samePath,
} from '../git/repository.ts';
import { returnIgnoredFiles } from '../inspect/ignored.ts';
import { locateWorktree } from '../inspect/inspect.ts';
import type { SavedState } from './discard.ts';
import { withExactFiles } from './exact-files.ts';

export interface RestoreRequest {
  repository: RepositoryOrPath;
  /** The session's branch. */
  branch: string;
  saved: SavedState;
  /** True to restore the worktree too, at `saved.path`. */
  withWorktree: boolean;
  /** The folder of kept ignored files; null for none. */
  keptIn: string | null;
}

/** The lock reason of a worktree while its files are being written: an interrupted one is recreated. */
const RESTORING = 'svc: being restored';

/** Throws `not_found` unless the repository still has a saved commit. */
async function requireCommit(git: Git, root: string, branch: string, commit: string): Promise<void> {
  if ((await resolveCommit(git, root, commit)) !== null) return;
  throw new SvcError('not_found', `the saved work of ${branch} no longer exists (${commit.slice(0, 12)})`, {
    data: { branch, commit },
  });
}

/** Restores a removed branch. Throws `exists` if there is another with that name. */
export async function restoreBranch(git: Git, root: string, branch: string, head: string): Promise<void> {
  await requireCommit(git, root, branch, head);
  const ref = branchRef(branch);
  if (await compareAndSetRef(git, root, ref, head, null, 'restored')) return;
  const found = await resolveCommit(git, root, ref);
  if (found === head) return;
  if (found === null) throw new SvcError('git_failed', `git could not create the branch ${branch}`);
  throw new SvcError('exists', `a branch ${branch} already exists, at ${found.slice(0, 12)}`, {
    hint: `the saved one ended at ${head}`,
    data: { branch, found, saved: head },
  });
}

/** Restores the files, and the index. */
async function restoreFiles(git: Git, path: string, commonDir: string, files: string): Promise<void> {
  const { gitDir } = await locateWorktree(git, path);
  const [now, tree, staged] =
    (await resolveIds(git, path, ['HEAD^{tree}', `${files}^{tree}`, `${files}^2^{tree}`])) ?? [];
  if (now === undefined || tree === undefined || staged === undefined)
    throw new SvcError('git_failed', `git cannot read the saved files ${files}`);
  await withExactFiles(git, { path, gitDir, commonDir }, tree.length, async (exact) => {
    // A fresh file may look changed to a git that does not convert; only differing files are written.
    await exact.run(path, ['read-tree', '--reset', '-u', now, tree]);
  });
  await git.run(path, ['read-tree', staged]);
  await git.run(path, ['update-index', '-q', '--refresh'], { allowFail: true });
}

/** Recreates a removed worktree at its old path. An interrupted attempt is repeated. */
async function restoreFolder(
  git: Git,
  { root, commonDir }: { root: string; commonDir: string },
  { branch, saved: { detached, files } }: RestoreRequest,
  path: string,
): Promise<void> {
  const entry = (await listWorktrees(git, root)).find((each) => samePath(each.path, path));
  const isBack = entry !== undefined && mayExist(path) && entry.locked === null;
  if (isBack && (detached === null ? entry.ref === branchRef(branch) : entry.head === detached)) return;
  if (entry?.locked === RESTORING) {
    // It has not been reported yet.
    await git.run(root, ['worktree', 'remove', '--force', '--force', entry.path], { allowFail: true });
    rmSync(path, { recursive: true, force: true });
  }
  if (mayExist(path))
    throw new SvcError('exists', `${path} is in the way`, { hint: 'move it aside, then restore again' });
  makeParentFolder(path);
  excludeSvcFolder(commonDir);
  const options = ['--lock', '--reason', RESTORING, ...(detached === null ? [] : ['--detach'])];
  await addWorktree(git, { root, commonDir }, { path, options, from: detached ?? branch });
  if (files !== null) await restoreFiles(git, path, commonDir, files);
  await git.run(root, ['worktree', 'unlock', path]);
}

/**
 * Restores a removed branch and, if requested, its worktree with the files that were in no commit. Throws `exists` if
 * the place is taken, `not_found` if the saved commits are gone.
 */
export async function restoreWorktree(git: Git, queue: KeyedQueue, request: RestoreRequest): Promise<void> {
  const { branch, saved, withWorktree, keptIn } = request;
  const repository = await resolveRepository(git, request.repository);
  const { root, commonDir } = repository;
  await queue(commonDir, async () => {
    for (const commit of [saved.head, saved.detached, saved.files])
      if (commit !== null) await requireCommit(git, root, branch, commit);
    if (saved.head !== null) await restoreBranch(git, root, branch, saved.head);
    if (!withWorktree || saved.path === null) return;
    await restoreFolder(git, repository, request, saved.path);
    if (keptIn !== null) returnIgnoredFiles(saved.path, keptIn);
  });
}

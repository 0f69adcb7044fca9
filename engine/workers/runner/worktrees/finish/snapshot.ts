import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { commitTree } from '../git/commit-tree.ts';
import type { Git } from '../git/git.ts';
import { clearFlags, copyIndex } from '../git/index-flags.ts';
import { compareAndSetRef, resolveIds } from '../git/refs.ts';
import { carefulEnvironment, hasNothingToCommit, readContents } from '../inspect/contents.ts';
import { inspectWorktree } from '../inspect/inspect.ts';
import { readCommitIntoIndex, writeFilesTree } from './save-work.ts';

/** A worktree whose files are saved while its worker changes them. */
export interface SnapshotRequest {
  path: string;
  branch: string;
  /** The ref that holds the snapshot, and replaces its earlier one. */
  ref: string;
  message: string;
}

/**
 * Commits the files of a worktree, as they are, on top of its last commit and under a separate ref. No branch,
 * index or file of the worktree changes. Returns the commit, also an earlier one of the same files; null if nothing is
 * uncommitted. Throws `worktree_unsafe`, `git_failed`.
 */
export async function snapshotWorktree(
  git: Git,
  { path, ref, message }: Omit<SnapshotRequest, 'branch'>,
): Promise<string | null> {
  const { gitDir, head, tree: headTree } = await inspectWorktree(git, path);
  if (head === null) return null;
  const contents = await readContents(git, path, gitDir);
  if (hasNothingToCommit(contents)) return null;
  // It stays for the next snapshot, which so reads only the files that have changed since.
  const index = join(gitDir, 'index.svc-snapshot');
  const env = { ...carefulEnvironment(path), GIT_INDEX_FILE: index };
  rmSync(`${index}.lock`, { force: true });
  if (!existsSync(index)) {
    const own = join(gitDir, 'index');
    if (existsSync(own)) copyIndex(own, index);
    else await readCommitIntoIndex(git, path, head, env);
    await clearFlags(git, path, contents.flagged, env);
  }
  const { tree } = await writeFilesTree(git, path, env, contents.nested);
  if (tree === headTree) return null;
  const before = await resolveIds(git, path, [ref, `${ref}^{tree}`, `${ref}^1`]);
  if (before?.[1] === tree && before[2] === head) return before[0] ?? null;
  const commit = await commitTree(git, path, { tree, parents: [head], message });
  if (await compareAndSetRef(git, path, ref, commit, before?.[0] ?? null, 'saved while it is changed'))
    return commit;
  throw new SvcError('git_failed', `the work in ${path} could not be saved under ${ref}`);
}

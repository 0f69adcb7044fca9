import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { addWorktree } from '../create/add-worktree.ts';
import { describeFailure } from '../git/describe-failure.ts';
import { type Git, splitRecords } from '../git/git.ts';
import { resolveCommit } from '../git/refs.ts';
import { type GitRepository, listWorktrees } from '../git/repository.ts';

const TEMPORARY = 'svc-rebase-';

export const mergeConflictError = (paths: readonly string[], strategy: string): SvcError =>
  new SvcError(
    'promote_conflict',
    `the ${strategy} stops at conflicts in ${paths.join(', ')}; nothing was changed`,
    {
      hint: 'let the session resolve them on its branch, then promote again',
      data: { paths },
    },
  );

const unrelatedHistoriesError = (base: string, branch: string): SvcError =>
  new SvcError(
    'conflict',
    `the branch and its base have no common commit (${branch.slice(0, 12)} and ${base.slice(0, 12)}), so there is no merge base; nothing was changed`,
    {
      hint: 'run its task again on this base; or check its commits and merge them by hand: git merge --allow-unrelated-histories',
      data: { base, branch },
    },
  );

/** Computes the tree of a merge and the conflicting paths. Objects are written to the location in `env`. */
export async function mergeTrees(
  git: Git,
  root: string,
  { base, branch, env }: { base: string; branch: string; env: Record<string, string> },
): Promise<{ tree: string; conflicts: string[] }> {
  const merge = await git.run(
    root,
    ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', base, branch],
    { allowFail: true, env },
  );
  const [tree = '', ...paths] = splitRecords(merge.stdout);
  if (merge.code > 1 || tree === '') {
    const { code } = await git.run(root, ['merge-base', base, branch], { allowFail: true });
    if (code === 1) throw unrelatedHistoriesError(base, branch);
    throw new SvcError(
      'git_failed',
      `git merge-tree: ${describeFailure(merge.stderr) || `exit code ${merge.code}`}`,
    );
  }
  return { tree, conflicts: merge.code === 1 ? [...new Set(paths)] : [] };
}

/** Removes worktrees left by a host that was killed during a rebase; they contain only our own computation. */
async function removeLeftoverRebases(git: Git, root: string): Promise<void> {
  for (const { path } of await listWorktrees(git, root)) {
    if (basename(join(path, '..')).startsWith(TEMPORARY)) await discardRebase(git, root, path);
  }
}

async function discardRebase(git: Git, root: string, path: string): Promise<void> {
  await git.run(root, ['worktree', 'remove', '--force', '--force', path], { allowFail: true });
  rmSync(join(path, '..'), { recursive: true, force: true });
}

/**
 * Rebases the branch's commits onto the base, or only the commits after `after`, in a temporary worktree that is
 * always removed. The branch itself does not move. Throws `promote_conflict`.
 */
export async function rebaseCommits(
  git: Git,
  { root, commonDir }: Pick<GitRepository, 'root' | 'commonDir'>,
  {
    base,
    after,
    branch,
    env,
  }: { base: string; after: string | null; branch: string; env: Record<string, string> },
): Promise<string> {
  await removeLeftoverRebases(git, root);
  const path = join(realpathSync(mkdtempSync(join(tmpdir(), TEMPORARY))), 'checkout');
  try {
    await addWorktree(git, { root, commonDir }, { path, options: ['--detach'], from: branch });
    const rebase = await git.run(
      path,
      ['rebase', '--quiet', '--no-keep-empty', ...(after === null ? [base] : ['--onto', base, after])],
      {
        allowFail: true,
        env,
      },
    );
    if (rebase.code !== 0) {
      const unmerged = await git.run(path, ['diff', '--name-only', '--diff-filter=U', '-z'], {
        allowFail: true,
      });
      const paths = splitRecords(unmerged.stdout);
      if (paths.length > 0) throw mergeConflictError(paths, 'rebase');
      throw new SvcError('git_failed', `git rebase: ${describeFailure(rebase.stderr)}`);
    }
    const head = await resolveCommit(git, path, 'HEAD');
    if (head === null) throw new SvcError('git_failed', 'git rebase left no commit');
    return head;
  } finally {
    await discardRebase(git, root, path);
  }
}

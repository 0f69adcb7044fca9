import type { Worktrees } from '../worktrees/index.ts';
import { type KeptWorktree, NOTHING_KEPT } from './runner.ts';

/** Counts what a branch has in a repository of this machine beyond its base. Throws `git_failed`. */
export async function countBranch(
  worktrees: Pick<Worktrees, 'diffBranch'>,
  { repository, head, baseCommit }: { repository: string; head: string; baseCommit: string },
): Promise<KeptWorktree> {
  const { commits, files } = await worktrees.diffBranch({ repository, head, baseCommit });
  const sum = (pick: (file: (typeof files)[number]) => number): number =>
    files.reduce((total, file) => total + pick(file), 0);
  return {
    ...NOTHING_KEPT,
    headCommit: commits[0]?.id ?? baseCommit,
    commits: commits.length,
    files: files.length,
    insertions: sum((file) => file.insertions),
    deletions: sum((file) => file.deletions),
  };
}

import { type KeptWorktree, NOTHING_KEPT } from '../workers/runner/runs/index.ts';
import type { Worktrees } from '../workers/runner/worktrees/index.ts';

/** Counts what a session has on its branch in a repository of this machine, by the commits that have arrived. */
export async function countWork(
  worktrees: Pick<Worktrees, 'diffBranch'>,
  { folder, branch, baseCommit }: { folder: string; branch: string; baseCommit: string },
): Promise<KeptWorktree> {
  const { commits, files } = await worktrees.diffBranch({ repository: folder, head: branch, baseCommit });
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

import type { Worktrees } from '../worktrees/index.ts';
import type { Runner } from './runner.ts';

/** Lists the commits of a session's branch; null if they cannot be read. */
export async function listSessionCommits(
  worktrees: Pick<Worktrees, 'diffBranch'>,
  { repository, branch, baseCommit }: Parameters<Runner['listCommits']>[0],
): ReturnType<Runner['listCommits']> {
  if (repository === null || branch === null || baseCommit === null) return null;
  try {
    const { commits } = await worktrees.diffBranch({ repository, branch, baseCommit });
    return commits.map(({ id, subject }) => ({ id, subject }));
  } catch {
    return null;
  }
}

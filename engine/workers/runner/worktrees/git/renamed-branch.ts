import type { Git } from './git.ts';
import { branchRef, resolveCommit } from './refs.ts';

/** As git words it in the reflog of a branch that it has renamed. */
const RENAMED = /^Branch: renamed refs\/heads\/(.+) to refs\/heads\/(.+)$/;

/** Returns the current name of a renamed branch, by the repository's reflogs; null if none mentions it. */
export async function findRenamedBranch(git: Git, root: string, branch: string): Promise<string | null> {
  const { stdout } = await git.run(root, ['reflog', 'show', '--all', '--format=%gs'], { allowFail: true });
  const next = new Map<string, string>();
  // The newest comes first, and a name may have been used again since.
  for (const line of stdout.split('\n')) {
    const [, from, to] = RENAMED.exec(line) ?? [];
    if (from !== undefined && to !== undefined && !next.has(from)) next.set(from, to);
  }
  const seen = new Set<string>();
  for (let name = next.get(branch); name !== undefined && !seen.has(name); name = next.get(name)) {
    if ((await resolveCommit(git, root, branchRef(name))) !== null) return name;
    seen.add(name);
  }
  return null;
}

import { findFallbackIdentity, type Git } from './git.ts';

/**
 * Makes a commit by the user's own name. Who that is, is asked only where git knows nobody: it is told not to make a
 * name up from the machine's, and then the commit is svc's.
 */
export async function commitTree(
  git: Git,
  cwd: string,
  { tree, parents, message }: { tree: string; parents: readonly string[]; message: string },
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  const input = `${message}\n`;
  const own = await git.run(cwd, ['-c', 'user.useConfigOnly=true', ...args], { input, allowFail: true });
  if (own.code === 0) return own.stdout.trim();
  return git.text(cwd, args, { env: await findFallbackIdentity(git, cwd), input });
}

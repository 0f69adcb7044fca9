import { findFallbackIdentity, type Git } from './git.ts';

/**
 * Creates a commit under the user's own name. git must not derive a name from the machine; only if it has none is
 * svc's identity used.
 */
export async function commitTree(
  git: Git,
  cwd: string,
  {
    tree,
    parents,
    message,
    env = {},
  }: {
    tree: string;
    parents: readonly string[];
    message: string;
    /** Names another author than the user. */
    env?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  const input = `${message}\n`;
  const configured = await git.readIdentity(cwd);
  // Without any configured name git would refuse.
  if (configured.size > 0) {
    const own = await git.run(cwd, ['-c', 'user.useConfigOnly=true', ...args], {
      input,
      env,
      allowFail: true,
    });
    if (own.code === 0) return own.stdout.trim();
  }
  return git.text(cwd, args, { env: { ...(await findFallbackIdentity(git, cwd)), ...env }, input });
}

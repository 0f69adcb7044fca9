import type { Git } from '../git/git.ts';

/** Branches of sessions, including pushed ones. */
const OF_SESSIONS = /^refs\/(?:heads|remotes\/.+?)\/svc\//;

/**
 * Reports whether a commit is in a branch or tag that is not a session's: a person has merged it, or it never was a
 * worker's. False when in doubt.
 */
export async function isTakenIn(git: Git, cwd: string, commit: string): Promise<boolean> {
  const places = ['refs/heads', 'refs/remotes', 'refs/tags'];
  const args = ['for-each-ref', '--format=%(refname)', `--contains=${commit}`, ...places];
  const { code, stdout } = await git.run(cwd, args, { allowFail: true });
  return code === 0 && stdout.split('\n').some((ref) => ref !== '' && !OF_SESSIONS.test(ref));
}

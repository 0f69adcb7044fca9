import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from './git.ts';
import { branchRef, compareAndSetRef, isAncestor, resolveCommit, sessionNameOf } from './refs.ts';

/** The newest commit of a session's branch, as it is elsewhere: in a sandbox, or on another machine. */
export interface ForeignTip {
  branch: string;
  /** The commit that the branch was created from. */
  base: string;
  tip: string;
  /** The branch in this repository; null if it is missing. */
  now: string | null;
  /** The tip that was published last; null for none. */
  known: string | null;
  /** The name for a tip that another commit of the branch here excludes. */
  asideName: string;
  /** For the reflog. */
  reason: string;
}

/**
 * Moves a session's branch in the repository to a tip whose objects it has. Returns the ref that holds the tip instead
 * if it does not descend from its base, or if the branch here has other commits. Throws `worktree_unsafe`.
 */
export async function publishTip(
  git: Git,
  common: string,
  { branch, base, tip, now, known, asideName, reason }: ForeignTip,
): Promise<string | null> {
  const keepUnderRef = async (name: string): Promise<string> => {
    const ref = `refs/svc/${sessionNameOf(branch)}/${name}-${tip.slice(0, 12)}`;
    const held = await resolveCommit(git, common, ref);
    const isKept = held === tip || (await compareAndSetRef(git, common, ref, tip, held, 'kept'));
    if (isKept) return ref;
    throw new SvcError('worktree_unsafe', `its commits could not be kept under ${ref}`);
  };
  const { code } = await git.run(common, ['merge-base', '--is-ancestor', base, tip], { allowFail: true });
  if (code > 1) throw new SvcError('worktree_unsafe', 'its branch does not end at a commit');
  if (code === 1) return keepUnderRef('off-base');
  // A person here has committed too: keep both.
  if (now !== null && now !== known && !(await isAncestor(git, common, now, tip)))
    return keepUnderRef(asideName);
  if (!(await compareAndSetRef(git, common, branchRef(branch), tip, now, reason)))
    throw new SvcError('worktree_unsafe', `the branch ${branch} moved while it was taken over`);
  return null;
}

import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import {
  type PrivateGit,
  type PrivateGitRecord,
  readBranchFromFiles,
  writePrivateGit,
} from '../git/private-git.ts';
import { branchRef, compareAndSetRef, isAncestor, resolveCommit, sessionNameOf } from '../git/refs.ts';
import { gitIn, takeObjects } from './take-objects.ts';

/**
 * Moves the branch in the repository to its tip inside the sandbox. Returns the ref that holds the tip elsewhere,
 * if the branch could not move.
 */
export async function takeBranch(
  plain: Git,
  store: PrivateGit,
  record: PrivateGitRecord,
  tip: string,
  timeoutMs: number,
): Promise<string | null> {
  const git = gitIn(plain, record);
  const now = readBranchFromFiles(record.common, record.branch);
  const known = [...new Set([record.base, ...(now === null ? [] : [now])])];
  await takeObjects(plain, store, record, { wanted: [tip], known, timeoutMs });
  const keepUnderRef = async (reason: string): Promise<string> => {
    const ref = `refs/svc/${sessionNameOf(record.branch)}/${reason}-${tip.slice(0, 12)}`;
    const held = await resolveCommit(git, record.common, ref);
    const isKept = held === tip || (await compareAndSetRef(git, record.common, ref, tip, held, 'kept'));
    if (isKept) return ref;
    throw new SvcError('worktree_unsafe', `its commits could not be kept under ${ref}`);
  };
  const asked = ['merge-base', '--is-ancestor', record.base, tip];
  const { code } = await git.run(record.common, asked, { allowFail: true });
  if (code > 1) throw new SvcError('worktree_unsafe', 'its branch does not end at a commit');
  if (code === 1) return keepUnderRef('off-base');
  // A person outside also committed during the run: keep both.
  if (now !== null && now !== record.known && !(await isAncestor(git, record.common, now, tip)))
    return keepUnderRef('inside');
  const ref = branchRef(record.branch);
  if (!(await compareAndSetRef(git, record.common, ref, tip, now, 'taken over from its sandbox')))
    throw new SvcError('worktree_unsafe', `the branch ${record.branch} moved while it was taken over`);
  writePrivateGit(store, { ...record, known: tip });
  return null;
}

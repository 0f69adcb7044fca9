import { SvcError } from '../../../../core/base/errors.ts';
import { describeFailure } from '../git/describe-failure.ts';
import type { Git } from '../git/git.ts';
import { withMarksAside } from '../git/index-flags.ts';
import { fillLfsFiles } from '../git/lfs.ts';
import { branchRef, compareAndSetRef, isAncestor, resolveCommit } from '../git/refs.ts';
import { type RepositoryOrPath, resolveRepository } from '../git/repository.ts';
import { listChangedPaths } from '../inspect/sensitive.ts';
import { restoreBranch } from '../remove/restore.ts';
import {
  checkRoomForFiles,
  checkTouchedFiles,
  dirtyCheckoutError,
  type FoundCheckout,
  findBranchCheckout,
  isBranchCheckedOut,
} from './checkout.ts';

export interface UndoPromotionRequest {
  repository: RepositoryOrPath;
  /** The session's branch, and the commit at which it was promoted. */
  branch: string;
  head: string;
  /** The branch that received the work, and its commits before and after that. */
  base: string;
  before: string;
  after: string;
  /** True if an earlier attempt was interrupted: the base may have gone back, and moved from there. */
  isUndoing: boolean;
}

export interface UndonePromotion {
  /** True if a checkout of the base was updated too. */
  checkout: 'updated' | 'none';
  /** Files of Git LFS in that checkout whose content is not on this machine. */
  missingLfs: string[];
}

const UNTOUCHED: UndonePromotion = { checkout: 'none', missingLfs: [] };

const baseMovedOnError = ({ base, branch, after }: UndoPromotionRequest, found: string | null): SvcError =>
  new SvcError(
    'conflict',
    found === null
      ? `the branch ${base} no longer exists; nothing was changed`
      : `${base} has moved since ${branch} was promoted into it; nothing was changed`,
    {
      hint: `a person can revert the work with git revert -m 1 ${after.slice(0, 12)}, or with git revert of its commits`,
      data: { base, promoted: after, found },
    },
  );

/** The checkout of the base, if there is one and it can follow. Throws `checkout_dirty`. */
async function requireFollower(
  git: Git,
  root: string,
  { base, before, after }: UndoPromotionRequest,
): Promise<FoundCheckout> {
  const paths = await listChangedPaths(git, root, { from: after, to: before });
  const found = await findBranchCheckout(git, root, base);
  const touched = checkTouchedFiles(
    found,
    paths.map(({ path }) => path),
  );
  const added = paths.filter(({ change }) => change === 'added').map(({ path }) => path);
  const checkout = await checkRoomForFiles(git, touched, added);
  if (checkout.state !== 'dirty') return found;
  const { message, data } = dirtyCheckoutError(checkout);
  throw new SvcError('checkout_dirty', message, {
    hint: 'commit or stash what is there, then undo again',
    data,
  });
}

/** Ensures that the session's branch holds the promoted commit. Throws `exists` if it holds another one. */
async function requireBranch(git: Git, root: string, branch: string, head: string): Promise<void> {
  const tip = await resolveCommit(git, root, branchRef(branch));
  // A person may have committed on a branch that was kept.
  if (tip !== null && (await isAncestor(git, root, head, tip))) return;
  await restoreBranch(git, root, branch, head);
}

/**
 * Undoes a promotion while its base has not moved: the session's branch is restored, the base is at its old commit,
 * and its checkout follows in the promoted files. Repeats the rest of an interrupted attempt. Throws `conflict` if
 * the base has moved, `checkout_dirty` if files are in the way: then nothing was changed.
 */
export async function undoPromotion(git: Git, request: UndoPromotionRequest): Promise<UndonePromotion> {
  const { branch, head, base, before, after } = request;
  const { root } = await resolveRepository(git, request.repository);
  const ref = branchRef(base);
  const now = await resolveCommit(git, root, ref);
  if (now !== after && now !== before) {
    const isUndone = request.isUndoing && now !== null && !(await isAncestor(git, root, after, now));
    if (!isUndone) throw baseMovedOnError(request, now);
    await requireBranch(git, root, branch, head);
    return UNTOUCHED;
  }
  const isRepeated = now === before;
  const { checkout, gitDir } = isRepeated
    ? await findBranchCheckout(git, root, base)
    : await requireFollower(git, root, request);
  await requireBranch(git, root, branch, head);
  const reason = `undo the promotion of ${branch}`;
  if (!isRepeated && !(await compareAndSetRef(git, root, ref, before, after, reason)))
    throw baseMovedOnError(request, await resolveCommit(git, root, ref));
  const { path } = checkout;
  if (path === null || !(await isBranchCheckedOut(git, { path, gitDir }, base))) return UNTOUCHED;
  // Like a switch of branches: files with other changes stay, and replaced files must be unchanged.
  const readTree = () => git.run(path, ['read-tree', '-m', '-u', after, before], { allowFail: true });
  const listTouched = async () =>
    (await listChangedPaths(git, root, { from: after, to: before })).map((each) => each.path);
  const { code, stderr } =
    gitDir === null ? await readTree() : await withMarksAside(git, { path, gitDir }, listTouched, readTree);
  if (code === 0)
    return { checkout: 'updated', missingLfs: await fillLfsFiles(git, path, await listTouched()) };
  const why = describeFailure(stderr);
  // Another process has just written there.
  const isBack = !isRepeated && (await compareAndSetRef(git, root, ref, after, before, `not undone: ${why}`));
  throw new SvcError(
    'checkout_dirty',
    `the checkout ${path} could not follow: ${why}; ${isBack ? 'nothing was changed' : `${base} is at ${before.slice(0, 12)}`}`,
    { hint: 'commit or stash what is there, then undo again', data: { path, paths: [] } },
  );
}

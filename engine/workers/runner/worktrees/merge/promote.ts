import { SvcError } from '../../../../core/base/errors.ts';
import { quoteForShell } from '../../../../core/base/text.ts';
import { commitTree } from '../git/commit-tree.ts';
import { describeFailure } from '../git/describe-failure.ts';
import { findFallbackIdentity, type Git } from '../git/git.ts';
import { withMarksAside } from '../git/index-flags.ts';
import { fillLfsFiles } from '../git/lfs.ts';
import { branchRef, compareAndSetRef, isAncestor, resolveCommit, resolveIds } from '../git/refs.ts';
import { findRenamedBranch } from '../git/renamed-branch.ts';
import { type GitRepository, type RepositoryOrPath, resolveRepository } from '../git/repository.ts';
import { type ForeignCommits, findForeignCommits, foreignCommitsError } from '../inspect/foreign-commits.ts';
import { findMergeStates } from '../inspect/merge-state.ts';
import { listChangedPaths, type SensitiveChange, selectSensitive } from '../inspect/sensitive.ts';
import {
  checkTouchedFiles,
  dirtyCheckoutError,
  findBranchCheckout,
  isBranchCheckedOut,
  listFirstPaths,
} from './checkout.ts';
import { rewordSavedWork, writeSquashMessage } from './commit-messages.ts';
import { mergeConflictError, mergeTrees, rebaseCommits } from './integrate.ts';
import type { PromoteStrategy } from './strategies.ts';

export interface PromoteRequest {
  repository: RepositoryOrPath;
  /** The session's branch. */
  branch: string;
  /** The branch that receives the work. */
  base: string;
  strategy: PromoteStrategy;
  /** The subject of a squashed commit, and of rebased or merged commits that svc made for a worker. */
  title: string;
  /** The whole message of the merge commit or the squashed one; by default it is made from the title. */
  message?: string;
  /** Lines for the end of a squashed commit's message, such as `Refs acme/shop#12`. */
  trailers?: readonly string[];
  /** Promote only if this is still the branch's commit. */
  head?: string;
  /** The recorded commit where the session started: anything older is not its own. */
  baseCommit?: string;
}

export interface PromoteResult {
  base: string;
  /** The branch's commit. */
  head: string;
  /** The base's commit before and after. */
  before: string;
  after: string;
  strategy: PromoteStrategy;
  /** True if the base already contained the work; nothing was changed. */
  alreadyMerged: boolean;
  /** Changed files that deserve a separate look, because they affect more than the program. */
  sensitive: SensitiveChange[];
  /** True if a checkout of the base was updated too. */
  checkout: 'updated' | 'none';
  /** Files of Git LFS in that checkout whose content is not on this machine. */
  missingLfs: string[];
}

const baseMovedError = (base: string): SvcError =>
  new SvcError('conflict', `the branch ${base} has moved; nothing was changed`, {
    hint: 'promote again',
  });

interface FollowingCheckout {
  path: string;
  gitDir: string;
}

/**
 * Returns the checkout of the base that has to be updated too, or null. Throws `checkout_dirty` if it cannot be.
 * @param touched the files that the update changes
 */
async function findFollowingCheckout(
  git: Git,
  root: string,
  base: string,
  touched: readonly string[],
): Promise<FollowingCheckout | null> {
  const found = await findBranchCheckout(git, root, base);
  const checkout = checkTouchedFiles(found, touched);
  if (checkout.state === 'dirty') throw dirtyCheckoutError(checkout);
  const { path } = checkout;
  const { gitDir } = found;
  return path === null || gitDir === null ? null : { path, gitDir };
}

/** Fast-forwards a checkout. git itself refuses if a changed or an untracked file is in the way. */
async function fastForwardCheckout(
  git: Git,
  follower: FollowingCheckout,
  { base, next, touched }: { base: string; next: string; touched: readonly string[] },
): Promise<void> {
  const { path } = follower;
  if (!(await isBranchCheckedOut(git, follower, base))) throw baseMovedError(base);
  // Without --no-overwrite-ignore a merge replaces ignored files silently.
  const args = ['merge', '--ff-only', '--no-overwrite-ignore', '--no-autostash', '--no-verify-signatures'];
  const merge = await withMarksAside(
    git,
    follower,
    async () => touched,
    () => git.run(path, [...args, '--quiet', next], { allowFail: true }),
  );
  if (merge.code === 0) return;
  if (!(await isAncestor(git, path, 'HEAD', next))) throw baseMovedError(base);
  // git lists the blocking paths on separate lines, after a tab.
  const paths = merge.stderr.split('\n').flatMap((line) => (line.startsWith('\t') ? [line.slice(1)] : []));
  if (paths.length > 0)
    throw dirtyCheckoutError({ path, reason: `has files in the way: ${listFirstPaths(paths)}`, paths });
  const reason = describeFailure(merge.stderr);
  throw new SvcError('git_failed', `git merge in ${path}: ${reason}; nothing was changed`, {
    data: { path },
  });
}

const toPath = ({ path }: { path: string }): string => path;

/** The commits that base and branch point to. */
export interface BranchTips {
  /** The base's commit, and its tree. */
  before: string;
  beforeTree: string;
  /** The branch's commit. */
  tip: string;
}

async function missingBaseError(git: Git, root: string, base: string): Promise<SvcError> {
  const renamed = await findRenamedBranch(git, root, base);
  const head = await git.run(root, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { allowFail: true });
  const current = head.code === 0 ? head.stdout.trim() : null;
  const other = renamed ?? current;
  // A branch may be called `a;b`.
  const word = other === null || /^[\w./-]+$/.test(other) ? other : quoteForShell(other);
  const why = renamed === null ? '' : `: it was renamed to ${renamed}`;
  return new SvcError('not_found', `there is no branch ${JSON.stringify(base)} in ${root}${why}`, {
    ...(other === null
      ? {}
      : {
          hint: `--base ${word} names ${renamed === null ? 'what is checked out there' : 'it'}`,
        }),
    data: { branch: base, ...(other === null ? {} : { suggested: other }) },
  });
}

/** The commits of base and branch. Throws `not_found`. */
export async function resolveTips(
  git: Git,
  root: string,
  { branch, base }: Pick<PromoteRequest, 'branch' | 'base'>,
): Promise<BranchTips> {
  const into = branchRef(base);
  const ids = await resolveIds(git, root, [
    `${into}^{commit}`,
    `${into}^{tree}`,
    `${branchRef(branch)}^{commit}`,
  ]);
  const [before, beforeTree, tip] = ids ?? [];
  if (before !== undefined && beforeTree !== undefined && tip !== undefined)
    return { before, beforeTree, tip };
  if ((await resolveCommit(git, root, into)) === null) throw await missingBaseError(git, root, base);
  throw new SvcError('not_found', `there is no branch ${JSON.stringify(branch)} in ${root}`, {
    data: { branch },
  });
}

/**
 * Finds commits of the branch that are neither the base's nor its session's; null if there are none. Throws
 * `conflict`.
 */
export async function findForeignToBase(
  git: Git,
  root: string,
  { branch, base, baseCommit }: Pick<PromoteRequest, 'branch' | 'base' | 'baseCommit'>,
  { before, tip }: BranchTips,
): Promise<ForeignCommits | null> {
  if (baseCommit === undefined) return null;
  return findForeignCommits(git, root, { branch, base, tip, target: before, baseCommit });
}

/**
 * Computes the commit that promoting would put on the base, without touching any checkout; null if the base already
 * contains the work. Throws `promote_conflict`, `checkout_dirty`, and `conflict` if a merge would bring in more than
 * the work.
 */
async function computePromotion(
  git: Git,
  repository: GitRepository,
  request: PromoteRequest,
  tips: BranchTips,
): Promise<string | null> {
  const { root } = repository;
  const { base, strategy, title, message } = request;
  const { before, beforeTree, tip } = tips;
  const foreign = await findForeignToBase(git, root, request, tips);
  // The branch has no own commits.
  if (foreign?.newest === tip) return null;
  if (strategy !== 'rebase') {
    if (foreign !== null) throw foreignCommitsError(request, foreign);
    // Nothing else shows later that a squashed branch is in the base.
    if (strategy === 'squash' && (await isWorkIn(git, repository, tips))) return null;
    const { tree, conflicts } = await mergeTrees(git, root, { base: before, branch: tip, env: {} });
    if (conflicts.length > 0) {
      const paths = await listChangedPaths(git, root, { from: before, to: tree });
      // Reports obstacles there first.
      await findFollowingCheckout(git, root, base, paths.map(toPath));
      throw mergeConflictError(conflicts, strategy);
    }
    // The work already arrived, perhaps squashed or picked: a merge commit would only add noise.
    if (tree === beforeTree) return null;
    if (strategy === 'merge') {
      const named = await rewordSavedWork(git, root, { base: before, tip, message: title });
      return commitTree(git, root, { tree, parents: [before, named], message: message ?? title });
    }
    const { trailers = [] } = request;
    const written = message ?? (await writeSquashMessage(git, root, { base: before, tip, title, trailers }));
    return commitTree(git, root, { tree, parents: [before], message: written });
  }
  if (await isAncestor(git, root, tip, before)) return null;
  await findFollowingCheckout(git, root, base, []); // refuse early, before anything is computed
  const env = await findFallbackIdentity(git, root);
  const after = await rebaseCommits(git, repository, {
    base: before,
    after: foreign?.newest ?? null,
    branch: tip,
    env,
  });
  if (after === before) return null;
  if ((await git.text(root, ['rev-parse', `${after}^{tree}`])) === beforeTree) return null;
  return rewordSavedWork(git, root, { base: before, tip: after, message: title });
}

/** Reports whether the base holds the work of the branch (R3). */
async function isWorkIn(git: Git, where: GitRepository, { before, tip }: BranchTips): Promise<boolean> {
  return (await findMergeStates(git, where, before, [tip])).get(tip)?.merged ?? false;
}

/** Writes the message that a squash would use, with the branch's commit that it is about. */
export async function draftSquashMessage(
  git: Git,
  request: Pick<PromoteRequest, 'repository' | 'branch' | 'base' | 'title' | 'trailers'>,
): Promise<{ head: string; message: string }> {
  const { root } = await resolveRepository(git, request.repository);
  const { before, tip } = await resolveTips(git, root, request);
  const { title, trailers = [] } = request;
  return { head: tip, message: await writeSquashMessage(git, root, { base: before, tip, title, trailers }) };
}

/**
 * Merges, rebases or squashes a session's work into its base. The result is computed separately; the base then moves in one
 * step, together with its checkout if there is one, or not at all: uncommitted changes in files that the work does
 * not touch are kept. Never pushes, never touches the session's branch. Throws `promote_conflict` (data.paths),
 * `checkout_dirty` (data.paths), `conflict`, `not_found`, `git_failed`.
 */
export async function promoteBranch(git: Git, request: PromoteRequest): Promise<PromoteResult> {
  const { branch, base, strategy, head } = request;
  const repository = await resolveRepository(git, request.repository);
  const { root } = repository;
  const tips = await resolveTips(git, root, request);
  const { before, tip } = tips;
  if (head !== undefined && head !== tip) {
    throw new SvcError('conflict', `the branch ${branch} moved since you looked; nothing was changed`, {
      hint: 'check it again, then promote the current state',
      data: { seen: head, found: tip },
    });
  }
  const unchanged: PromoteResult = {
    base,
    head: tip,
    before,
    after: before,
    strategy,
    alreadyMerged: true,
    sensitive: [],
    checkout: 'none',
    missingLfs: [],
  };
  const after = await computePromotion(git, repository, request, tips);
  if (after === null) return unchanged;

  const paths = await listChangedPaths(git, root, { from: before, to: after });
  const checkout = await findFollowingCheckout(git, root, base, paths.map(toPath));
  if (checkout === null) {
    if (!(await compareAndSetRef(git, root, branchRef(base), after, before, `promote ${branch}`)))
      throw baseMovedError(base);
  } else {
    await fastForwardCheckout(git, checkout, { base, next: after, touched: paths.map(toPath) });
  }
  // R4: the person may have committed on top in the meantime; anything else is not what was intended.
  const now = await resolveCommit(git, root, branchRef(base));
  const isThere = now === after || (now !== null && (await isAncestor(git, root, after, now)));
  if (!isThere) {
    throw new SvcError('conflict', `${base} is no longer where promoting ${branch} put it`, {
      hint: `the result is the commit ${after}`,
      data: { intended: after, found: now },
    });
  }
  return {
    ...unchanged,
    after,
    alreadyMerged: false,
    sensitive: selectSensitive(paths),
    checkout: checkout === null ? 'none' : 'updated',
    missingLfs: checkout === null ? [] : await fillLfsFiles(git, checkout.path, paths.map(toPath)),
  };
}

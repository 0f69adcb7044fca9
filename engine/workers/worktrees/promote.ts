import { SvcError } from '../../errors.ts';
import { checkoutOf, dirty, named } from './checkout.ts';
import { type Git, identity } from './git.ts';
import { mergeCommit, rebasedCommit } from './integrate.ts';
import { branchRef, commitOf, compareAndSet, isAncestor, repositoryOf } from './repository.ts';

export interface PromoteRequest {
  repository: string;
  /** The session's branch. */
  branch: string;
  /** The branch that takes the work in. */
  base: string;
  strategy: 'merge' | 'rebase';
  /** Of the merge commit. */
  message: string;
  /** Only if this is still the branch's commit. */
  head?: string;
}

export interface PromoteResult {
  base: string;
  /** The base's commit before and after. */
  before: string;
  after: string;
  strategy: 'merge' | 'rebase';
  /** The base held the work already; nothing was changed. */
  alreadyMerged: boolean;
  /** Whether a checkout of the base was brought along. */
  checkout: 'updated' | 'none';
}

const moved = (base: string): SvcError =>
  new SvcError('conflict', `the branch ${base} moved meanwhile; nothing was changed`, {
    hint: 'promote again',
  });

/** The checkout of the base that has to follow, or null. Throws `checkout_dirty` when it cannot. */
async function followerOf(git: Git, root: string, base: string): Promise<string | null> {
  const checkout = await checkoutOf(git, root, base);
  if (checkout.state === 'dirty') throw dirty(checkout);
  return checkout.path;
}

/** Fast-forwards a clean checkout. git refuses by itself when a file that it does not track is in the way. */
async function forward(git: Git, path: string, base: string, next: string): Promise<void> {
  if ((await git.text(path, ['symbolic-ref', '--quiet', 'HEAD'], { allowFail: true })) !== branchRef(base)) {
    throw moved(base);
  }
  // Without --no-overwrite-ignore a merge replaces ignored files silently.
  const merge = await git.run(
    path,
    [
      'merge',
      '--ff-only',
      '--no-overwrite-ignore',
      '--no-autostash',
      '--no-verify-signatures',
      '--quiet',
      next,
    ],
    { allowFail: true },
  );
  if (merge.code === 0) return;
  // git lists the paths that are in the way on lines of their own, after a tab.
  const paths = merge.stderr.split('\n').flatMap((line) => (line.startsWith('\t') ? [line.slice(1)] : []));
  if (paths.length > 0) throw dirty({ path, reason: `has files in the way: ${named(paths)}`, paths });
  if (/fast-forward/i.test(merge.stderr)) throw moved(base);
  const reason = merge.stderr.split('\n')[0]?.replace(/^(fatal|error): /, '');
  throw new SvcError('git_failed', `git merge in ${path}: ${reason}; nothing was changed`, {
    data: { path },
  });
}

/** The commits of base and branch. Throws `not_found`. */
export async function tipsOf(
  git: Git,
  root: string,
  { branch, base }: Pick<PromoteRequest, 'branch' | 'base'>,
): Promise<{ before: string; tip: string }> {
  const [before, tip] = await Promise.all([
    commitOf(git, root, branchRef(base)),
    commitOf(git, root, branchRef(branch)),
  ]);
  if (before !== null && tip !== null) return { before, tip };
  const missing = before === null ? base : branch;
  throw new SvcError('not_found', `there is no branch ${JSON.stringify(missing)} in ${root}`, {
    data: { branch: missing },
  });
}

/**
 * Brings a session's work into its base. The result is computed aside; the base then moves in one step, together with
 * its checkout where there is a clean one, or not at all. Never pushes, never touches the session's branch.
 * Throws `promote_conflict` (data.paths), `checkout_dirty` (data.paths), `conflict`, `not_found`, `git_failed`.
 */
export async function promote(git: Git, request: PromoteRequest): Promise<PromoteResult> {
  const { branch, base, strategy, message, head } = request;
  const { root } = await repositoryOf(git, request.repository);
  const { before, tip } = await tipsOf(git, root, request);
  if (head !== undefined && head !== tip) {
    throw new SvcError('conflict', `the branch ${branch} moved since you looked; nothing was changed`, {
      hint: 'look again, then promote what is there now',
      data: { seen: head, found: tip },
    });
  }
  const unchanged: PromoteResult = {
    base,
    before,
    after: before,
    strategy,
    alreadyMerged: true,
    checkout: 'none',
  };
  if (await isAncestor(git, root, tip, before)) return unchanged;
  await followerOf(git, root, base); // refuse early, before anything is computed

  const env = await identity(git, root);
  const after =
    strategy === 'merge'
      ? await mergeCommit(git, root, { base: before, branch: tip, message, env })
      : await rebasedCommit(git, root, { base: before, branch: tip, env });
  const treeOf = (commit: string): Promise<string> => git.text(root, ['rev-parse', `${commit}^{tree}`]);
  // The work arrived there squashed or picked: a merge commit would only add noise.
  if (after === before || (await treeOf(after)) === (await treeOf(before))) return unchanged;

  const checkout = await followerOf(git, root, base);
  if (checkout === null) {
    if (!(await compareAndSet(git, root, branchRef(base), after, before, `promote ${branch}`)))
      throw moved(base);
  } else {
    await forward(git, checkout, base, after);
  }
  // R4: the person may have committed on top in the meantime; anything else is not what was intended.
  const now = await commitOf(git, root, branchRef(base));
  if (now === null || !(await isAncestor(git, root, after, now))) {
    throw new SvcError('conflict', `${base} is not where promoting ${branch} has put it`, {
      hint: `the result is the commit ${after}`,
      data: { intended: after, found: now },
    });
  }
  return { ...unchanged, after, alreadyMerged: false, checkout: checkout === null ? 'none' : 'updated' };
}

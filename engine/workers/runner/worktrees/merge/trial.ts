import { type ProblemDetails, toProblem } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import { countAheadBehind } from '../git/refs.ts';
import { resolveRepository } from '../git/repository.ts';
import { foreignCommitsError } from '../inspect/foreign-commits.ts';
import { withTemporaryObjects } from '../inspect/merge-state.ts';
import { listChangedPaths, type SensitiveChange, selectSensitive } from '../inspect/sensitive.ts';
import { type BranchCheckout, checkRoomForFiles, checkTouchedFiles, findBranchCheckout } from './checkout.ts';
import { mergeTrees } from './integrate.ts';
import { findForeignToBase, type PromoteRequest, resolveTips } from './promote.ts';

export type TrialRequest = Pick<PromoteRequest, 'repository' | 'branch' | 'base' | 'baseCommit'>;

/** Obstacles to promoting by merge now. */
export interface MergeTrial {
  branch: string;
  /** The branch's commit; `promote` takes it to refuse another. */
  head: string;
  base: string;
  strategy: 'merge';
  /** True if the merge would succeed. */
  promotable: boolean;
  /** True if the base contains the work; promoting would change nothing. */
  alreadyMerged: boolean;
  /** The reason why a merge would be refused, and the alternative; null if it would not. */
  refused: ProblemDetails | null;
  /** Paths with conflicts. */
  conflicts: string[];
  /** Changes to the base that deserve a separate look. */
  sensitive: SensitiveChange[];
  /** The base's checkout, which has to be updated too. */
  checkout: BranchCheckout;
  /** Commits that only the branch has, and that only the base has. */
  ahead: number;
  behind: number;
}

/** Tries the merge in a temporary object folder that is removed afterwards. */
export async function tryPromotion(git: Git, request: TrialRequest): Promise<MergeTrial> {
  const { branch, base } = request;
  const { root, commonDir } = await resolveRepository(git, request.repository);
  const tips = await resolveTips(git, root, request);
  const { before, beforeTree, tip: head } = tips;
  const [counts, found, foreign] = await Promise.all([
    countAheadBehind(git, root, before, head),
    findBranchCheckout(git, root, base),
    findForeignToBase(git, root, request, tips),
  ]);
  const about = { branch, head, base, strategy: 'merge', refused: null, ...counts } as const;
  const asIs = { ...about, conflicts: [], sensitive: [], checkout: found.checkout };
  if (counts.ahead === 0 || foreign?.newest === head)
    return { ...asIs, promotable: true, alreadyMerged: true };
  if (foreign !== null) {
    const refused = toProblem(foreignCommitsError(request, foreign));
    return { ...asIs, refused, promotable: false, alreadyMerged: false };
  }

  return withTemporaryObjects(commonDir, async (env) => {
    const { tree, conflicts } = await mergeTrees(git, root, { base: before, branch: head, env });
    const paths = await listChangedPaths(git, root, { from: before, to: tree, env });
    const added = paths.filter(({ change }) => change === 'added').map(({ path }) => path);
    const checkout = checkTouchedFiles(
      found,
      paths.map(({ path }) => path),
    );
    const follows = conflicts.length > 0 ? checkout : await checkRoomForFiles(git, checkout, added);
    return {
      ...about,
      promotable: conflicts.length === 0 && follows.state !== 'dirty',
      alreadyMerged: tree === beforeTree,
      conflicts,
      sensitive: selectSensitive(paths),
      checkout: follows,
    };
  });
}

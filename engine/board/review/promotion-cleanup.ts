import type { GitRepository, PromoteResult } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { EndedSession } from './ended-session.ts';
import type { WorktreeRemoval } from './worktree-removal.ts';

export interface PromotionResult extends PromoteResult {
  sessionId: string;
  branch: string;
  /** True if the worktree and branch, no longer needed, were removed. */
  removed: boolean;
  /** Why they were not removed. */
  kept: string[];
  /** In a race: the other sessions, which are discarded; a live one as soon as it has ended. */
  discarded: string[];
  /** Notes for the caller, such as missing evidence. */
  warnings: string[];
}

const addRemoval = (
  done: Omit<PromotionResult, 'removed' | 'kept'>,
  removal: Pick<PromotionResult, 'removed' | 'kept' | 'warnings'>,
): PromotionResult => ({ ...done, ...removal, warnings: [...done.warnings, ...removal.warnings] });

/** Creates the follow-up work of a promotion, repeated if it was interrupted. */
export function createPromotionCleanup(
  {
    worktrees,
    endCommands,
    discardDue,
  }: Pick<WorktreeActionsDeps, 'worktrees' | 'endCommands'> & { discardDue(): Promise<string[]> },
  { prepareRemoval, recordGone }: WorktreeRemoval,
) {
  async function settlePromotion(
    done: Omit<PromotionResult, 'removed' | 'kept'>,
    session: Parameters<typeof removeAfterPromotion>[0],
    into: string,
    wanted: { keep?: boolean | undefined },
  ): Promise<PromotionResult> {
    const removal = await removeAfterPromotion(session, into, wanted.keep === true);
    const problems = done.discarded.length === 0 ? [] : await discardDue();
    return addRemoval(done, { ...removal, warnings: [...removal.warnings, ...problems] });
  }

  /** Removes the worktree and branch that are no longer needed after a promotion. */
  async function removeAfterPromotion(
    {
      branch,
      repository,
      worktree,
      baseCommit,
      keepWorktree,
    }: Pick<EndedSession, 'branch' | 'worktree' | 'baseCommit' | 'keepWorktree'> & {
      repository: string | GitRepository;
    },
    into: string,
    isKeepAsked: boolean,
  ): Promise<Pick<PromotionResult, 'removed' | 'kept' | 'warnings'>> {
    if (isKeepAsked || keepWorktree) return { removed: false, kept: ['as requested'], warnings: [] };
    // A process of theirs would keep the worktree.
    const here = findLocalPath(worktree);
    if (here !== null) await endCommands(here);
    const plan = await worktrees.planPrune({
      repository,
      base: into,
      keep: () => false,
      isOurs: (other) => other === branch,
      findStart: () => baseCommit,
    });
    const warnings: string[] = [];
    const { removed: gone, refused } = await worktrees.prune(plan, prepareRemoval(warnings));
    await recordGone(gone.map((each) => each.branch));
    warnings.push(...gone.flatMap((each) => each.ignored));
    const kept = [...refused, ...plan.entries]
      .filter((each) => each.branch === branch)
      .flatMap((each) => each.reasons);
    return { removed: gone.length > 0, kept, warnings };
  }

  return settlePromotion;
}

import type { Caller } from '../../core/api/operation.ts';
import { asSvcError, type ProblemDetails, toProblem } from '../../core/base/errors.ts';
import {
  type GitRepository,
  type PruneEntry,
  type PruneResult,
  samePath,
} from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Session } from '../../workers/sessions/index.ts';
import { chooseBase, optionalField } from './base-option.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { WorkspaceRepositories } from './workspace-repositories.ts';
import { problemToError } from './workspace-repositories.ts';
import type { WorktreeRemoval } from './worktree-removal.ts';

export interface PrunedWorktrees extends PruneResult {
  repository: string;
  /** Null if the repository could not be read. */
  base: string | null;
  /** Why nothing was read, or not everything was done; the other fields have the partial result. */
  problem: ProblemDetails | null;
  entries: PruneEntry[];
  /** Problems that did not prevent a removal. */
  warnings: string[];
}

/** Creates the removal of worktrees and branches that are no longer needed. */
export function createWorktreePruner(
  { sessions, worktrees, worktreesDir }: Pick<WorktreeActionsDeps, 'sessions' | 'worktrees' | 'worktreesDir'>,
  repositories: WorkspaceRepositories,
  { prepareRemoval, recordGone }: WorktreeRemoval,
) {
  const findSession = (branch: string): Session | null => sessions.byBranch(branch);

  /** Lists live sessions, and sessions whose worktree has to be kept. */
  const isKept = (branch: string): boolean => {
    const session = findSession(branch);
    if (session === null) return false;
    return (
      session.state !== 'ended' || session.keepWorktree || sessions.findSuccessor(session.sessionId) !== null
    );
  };

  /**
   * Reports whether a worktree belongs to this session: one at another path belongs to another workspace, regardless
   * of its branch name.
   */
  const isOurs = (branch: string, path: string | null): boolean => {
    const session = findSession(branch);
    if (session === null) return false;
    const worktree = findLocalPath(session.worktree);
    return path === null || (worktree !== null && samePath(path, worktree));
  };

  async function pruneWorktrees(
    wanted: { project?: string | undefined; base?: string | undefined; dryRun?: boolean | undefined },
    caller: Caller,
  ): Promise<PrunedWorktrees[]> {
    const { found, problems } = await repositories.findRepositories(wanted.project);
    const isElsewhere = repositories.findForeignFolders(found);
    const pruneRepository = async (repository: GitRepository): Promise<PrunedWorktrees> => {
      const warnings: string[] = [];
      const answer: PrunedWorktrees = { ...emptyPruned(repository.root), warnings };
      try {
        const plan = await worktrees.planPrune({
          repository,
          worktreesDir: worktreesDir,
          isElsewhere: isElsewhere(repository),
          keep: isKept,
          isOurs,
          findStart: (branch) => findSession(branch)?.baseCommit ?? null,
          ...optionalField('base', chooseBase(wanted, caller)),
        });
        Object.assign(answer, { base: plan.base, entries: plan.entries });
        if (wanted.dryRun === true) return answer;
        Object.assign(answer, await worktrees.prune(plan, prepareRemoval(warnings)));
        warnings.push(...answer.removed.flatMap(({ ignored }) => ignored));
        await recordGone(answer.removed.map((each) => each.branch));
      } catch (error) {
        answer.problem = toProblem(asSvcError(error));
      }
      return answer;
    };
    const answers = await Promise.all(found.map(pruneRepository));
    const failed = answers.filter(({ problem, removed }) => problem !== null && removed.length === 0);
    if (failed.length > 0 && failed.length === answers.length) throw problemToError(failed[0]!.problem!);
    return [
      ...answers,
      ...problems.map(({ repository, ...problem }) => ({ ...emptyPruned(repository), problem })),
    ];
  }

  return pruneWorktrees;
}

const emptyPruned = (repository: string): PrunedWorktrees => ({
  repository,
  base: null,
  problem: null,
  entries: [],
  removed: [],
  refused: [],
  gone: [],
  warnings: [],
});

import type { Caller } from '../../core/api/operation.ts';
import { asSvcError, toProblem } from '../../core/base/errors.ts';
import {
  listWorktreeStates,
  type SessionWorktree,
  type WorktreeState,
} from '../../workers/runner/worktrees/index.ts';
import { chooseBase, optionalField } from './base-option.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { RepositoryProblem, WorkspaceRepositories } from './workspace-repositories.ts';
import { compareListed, createCursorFilter } from './worktree-order.ts';

/** A session's branch and worktree, with its record in the register. */
export interface ListedWorktree extends SessionWorktree {
  repository: string;
  sessionId: string | null;
  taskId: string | null;
  title: string | null;
  /** How many commits its session made; null if unknown. */
  commits: number | null;
  state: string | null;
  /** Its states: dirty, merged and so on. */
  states: WorktreeState[];
}

export interface WorktreeList {
  worktrees: ListedWorktree[];
  /** The number of rows from the cursor on, including those beyond the limit. */
  total: number;
  problems: RepositoryProblem[];
}

/** Selects worktrees. */
export interface WantedWorktrees {
  project?: string | undefined;
  base?: string | undefined;
  state?: WorktreeState | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** Creates the list of session worktrees. */
export function createWorktreeLister(
  { sessions, worktrees, worktreesDir }: Pick<WorktreeActionsDeps, 'sessions' | 'worktrees' | 'worktreesDir'>,
  repositories: WorkspaceRepositories,
) {
  async function listWorktrees(wanted: WantedWorktrees, caller: Caller): Promise<WorktreeList> {
    const { found, problems } = await repositories.findRepositories(wanted.project);
    const isElsewhere = repositories.findForeignFolders(found);
    const { limit = Number.POSITIVE_INFINITY, state } = wanted;
    const isAfter = createCursorFilter(wanted.cursor);
    const looks = await Promise.all(
      found.map(async (repository) => {
        const request = {
          repository,
          worktreesDir: worktreesDir,
          isElsewhere: isElsewhere(repository),
          limit,
          state,
          isWanted: (branch: string) => isAfter({ branch, repository: repository.root }),
          ...optionalField('base', chooseBase(wanted, caller)),
        };
        const look = await worktrees
          .readStatus(request)
          .catch((error) => ({ worktrees: [], total: 0, problem: asSvcError(error) }));
        return { repository, ...look };
      }),
    );
    const troubled = looks.flatMap(({ repository, problem }) => (problem ? [{ repository, problem }] : []));
    // A base that exists in no repository is the caller's mistake.
    if (troubled.length > 0 && troubled.length === found.length) throw troubled[0]!.problem;
    for (const { repository, problem } of troubled)
      problems.push({ repository: repository.root, ...toProblem(problem) });
    const rows = looks.flatMap(({ repository, worktrees: entries }) =>
      entries.map((entry): ListedWorktree => {
        const session = sessions.byBranch(entry.branch);
        return {
          repository: repository.root,
          ...entry,
          sessionId: session?.sessionId ?? null,
          taskId: session?.taskId ?? null,
          title: session?.title ?? null,
          commits: session?.commits ?? null,
          state: session?.state ?? null,
          states: listWorktreeStates(entry),
        };
      }),
    );
    return {
      worktrees: rows.sort(compareListed).slice(0, limit),
      total: looks.reduce((sum, { total }) => sum + total, 0),
      problems,
    };
  }

  return listWorktrees;
}

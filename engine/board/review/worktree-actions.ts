import type { Caller } from '../../core/api/operation.ts';
import { asSvcError, type ProblemDetails, SvcError, toProblem } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import {
  type GitRepository,
  listWorktreeStates,
  type MergeTrial,
  type PruneEntry,
  type PruneResult,
  type SessionWorktree,
  samePath,
  type WorktreeState,
} from '../../workers/runner/worktrees/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { WantedSession, WorktreeActionsDeps } from './deps.ts';
import { createDiscardActions, type DiscardActions } from './discard-actions.ts';
import { createPromotion, type EndedSession, type PromoteSession } from './promotion.ts';
import { createRaceClearing } from './race-clearing.ts';
import { createUndoActions, type UndoActions } from './undo-actions.ts';
import { createUndoRecords } from './undo-records.ts';
import {
  createWorkspaceRepositories,
  problemToError,
  type RepositoryProblem,
} from './workspace-repositories.ts';
import { compareListed, createCursorFilter } from './worktree-order.ts';
import { createWorktreeRemoval } from './worktree-removal.ts';

/** The result of a trial promotion. */
export interface SessionTrial extends MergeTrial {
  sessionId: string;
}

/** A session's branch and worktree, with its record in the register. */
export interface ListedWorktree extends SessionWorktree {
  repository: string;
  sessionId: string | null;
  taskId: string | null;
  title: string | null;
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

/** Implements the operations on session worktrees. Nothing here pushes anywhere. */
export interface WorktreeActions
  extends Pick<DiscardActions, 'discard' | 'restore'>,
    Pick<UndoActions, 'undoPromotion'> {
  /** Resumes operations that an earlier host did not finish. */
  recover(onProblem: (sessionId: string, error: unknown) => void): Promise<void>;
  /** Discards ended sessions that lost their race. Returns the failures, a sentence each. */
  discardDue(): Promise<string[]>;
  /** Lists worktrees; throws only if nothing could be read. */
  listWorktrees(
    wanted: {
      project?: string | undefined;
      base?: string | undefined;
      state?: WorktreeState | undefined;
      limit?: number | undefined;
      cursor?: string | undefined;
    },
    caller: Caller,
  ): Promise<WorktreeList>;
  tryPromotion(wanted: WantedSession, caller: Caller): Promise<SessionTrial>;
  promote: PromoteSession;
  /** Returns one result per repository, including unreadable ones. Throws if none could be read. */
  pruneWorktrees(
    wanted: { project?: string | undefined; base?: string | undefined; dryRun?: boolean | undefined },
    caller: Caller,
  ): Promise<PrunedWorktrees[]>;
}

const chooseBase = (wanted: { base?: string | undefined }, caller: Caller): string | undefined =>
  wanted.base ?? caller.env.SVC_GIT_BASE;

const optionalField = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string };

export function createWorktreeActions(deps: WorktreeActionsDeps): WorktreeActions {
  const { sessions, worktrees } = deps;
  const removal = createWorktreeRemoval(deps);
  const { recordGone, prepareRemoval } = removal;
  const repositories = createWorkspaceRepositories(deps);
  const records = createUndoRecords(deps.storage, deps.clock);
  // Changes of a session's branch run one at a time.
  const oneAtATime = createKeyedQueue();
  const more = { ...deps, records, removal, resolveEnded, oneAtATime };
  const discards = createDiscardActions(more);
  const undos = createUndoActions(more);
  const { discardDue } = createRaceClearing({ ...deps, discard: discards.discard });

  function resolveEnded(prefix: string): EndedSession {
    const session = sessions.resolve(prefix);
    const { sessionId, branch, repository } = session;
    if (session.state !== 'ended') {
      throw new SvcError('conflict', `${sessionId} is still ${session.state}`, {
        hint: sentence`{task.cancel ${session.taskId}}`,
      });
    }
    // Until that has started, the worktree still belongs to the ended one.
    const next = sessions.findSuccessor(sessionId);
    if (next !== null) {
      throw new SvcError('conflict', `${next.sessionId} continues ${sessionId}, in its worktree`, {
        hint: sentence`{session.log ${next.sessionId} follow=true} shows its output`,
      });
    }
    if (session.branchState === 'continued' && branch !== null) {
      const newest = sessions.byBranch(branch)?.sessionId ?? sessionId;
      throw new SvcError('conflict', `${newest} has continued ${sessionId}, on its branch`, {
        hint: sentence`{worktree.promote ${newest}} promotes the work of both`,
      });
    }
    if (session.branchState === 'discarded' && session.worktree === null) {
      throw new SvcError('conflict', `${sessionId} was discarded`, {
        hint: sentence`{worktree.restore ${sessionId}} restores its branch`,
      });
    }
    if (session.promotedAt !== null && session.worktree === null) {
      throw new SvcError(
        'conflict',
        `${sessionId} was already promoted by ${session.promotedBy}, and its branch removed`,
      );
    }
    if (branch === null || repository === null) {
      throw new SvcError('not_found', `${sessionId} has no separate branch`);
    }
    return { ...session, branch, repository };
  }

  /** Finds the ended session's branch and the base that it is merged into. */
  function resolvePromotion(wanted: WantedSession, caller: Caller) {
    const session = resolveEnded(wanted.session);
    if (
      wanted.project !== undefined &&
      deps.resolveFolder(wanted.project) !== deps.resolveFolder(session.project)
    ) {
      throw new SvcError('conflict', `${session.sessionId} does not belong to project ${wanted.project}`);
    }
    const base = chooseBase(wanted, caller) ?? session.base;
    if (base !== null) return { session, base };
    throw new SvcError('usage', `${session.sessionId} was not made from a branch`, {
      hint: 'name the branch with --base',
    });
  }

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
    return path === null || (session.worktree !== null && samePath(path, session.worktree));
  };

  return {
    async listWorktrees(wanted, caller) {
      const { found, problems } = await repositories.findRepositories(wanted.project);
      const isElsewhere = repositories.findForeignFolders(found);
      const { limit = Number.POSITIVE_INFINITY, state } = wanted;
      const isAfter = createCursorFilter(wanted.cursor);
      const looks = await Promise.all(
        found.map(async (repository) => {
          const request = {
            repository,
            worktreesDir: deps.worktreesDir,
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
          const session = findSession(entry.branch);
          return {
            repository: repository.root,
            ...entry,
            sessionId: session?.sessionId ?? null,
            taskId: session?.taskId ?? null,
            title: session?.title ?? null,
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
    },

    async tryPromotion(wanted, caller) {
      const { session, base } = resolvePromotion(wanted, caller);
      const { sessionId, repository, branch, baseCommit } = session;
      const began = optionalField('baseCommit', baseCommit ?? undefined);
      return { sessionId, ...(await worktrees.tryPromotion({ repository, branch, base, ...began })) };
    },

    promote: createPromotion({ ...more, discardDue }, removal, resolvePromotion),
    discardDue,
    discard: discards.discard,
    restore: discards.restore,
    undoPromotion: undos.undoPromotion,
    async recover(onProblem) {
      await discards.recover(onProblem);
      await discardDue();
      await undos.recover(onProblem);
    },

    async pruneWorktrees(wanted, caller) {
      const { found, problems } = await repositories.findRepositories(wanted.project);
      const isElsewhere = repositories.findForeignFolders(found);
      const pruneRepository = async (repository: GitRepository): Promise<PrunedWorktrees> => {
        const warnings: string[] = [];
        const answer: PrunedWorktrees = { ...emptyPruned(repository.root), warnings };
        try {
          const plan = await worktrees.planPrune({
            repository,
            worktreesDir: deps.worktreesDir,
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
    },
  };
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

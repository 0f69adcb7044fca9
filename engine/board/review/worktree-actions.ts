import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import type { MergeTrial } from '../../workers/runner/worktrees/index.ts';
import { chooseBase, optionalField } from './base-option.ts';
import type { WantedSession, WorktreeActionsDeps } from './deps.ts';
import { createDiscardActions, type DiscardActions } from './discard-actions.ts';
import { type EndedSession, resolveEndedSession } from './ended-session.ts';
import { createWorktreeLister, type WantedWorktrees, type WorktreeList } from './list-worktrees.ts';
import { createPromotion, type PromoteSession } from './promotion.ts';
import { describePromotedWork, writeMergeMessage } from './promotion-message.ts';
import { createWorktreePruner, type PrunedWorktrees } from './prune-worktrees.ts';
import { createRaceClearing } from './race-clearing.ts';
import { createUndoActions, type UndoActions } from './undo-actions.ts';
import { createUndoRecords } from './undo-records.ts';
import { createWorkspaceRepositories } from './workspace-repositories.ts';
import { createWorktreeRemoval } from './worktree-removal.ts';

export type { WorktreeList } from './list-worktrees.ts';
export type { PrunedWorktrees } from './prune-worktrees.ts';

/** The result of a trial promotion. */
export interface SessionTrial extends MergeTrial {
  sessionId: string;
  /** Of the commit that a squash would make. */
  subject: string;
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
  listWorktrees(wanted: WantedWorktrees, caller: Caller): Promise<WorktreeList>;
  tryPromotion(wanted: WantedSession, caller: Caller): Promise<SessionTrial>;
  /** Writes the message that a promotion would use, with the branch's commit that it is about. */
  draftMessage(
    wanted: WantedSession & { strategy: 'merge' | 'squash' },
    caller: Caller,
  ): Promise<{ sessionId: string; head: string; message: string }>;
  promote: PromoteSession;
  /** Returns one result per repository, including unreadable ones. Throws if none could be read. */
  pruneWorktrees(
    wanted: { project?: string | undefined; base?: string | undefined; dryRun?: boolean | undefined },
    caller: Caller,
  ): Promise<PrunedWorktrees[]>;
}

export function createWorktreeActions(deps: WorktreeActionsDeps): WorktreeActions {
  const { sessions, worktrees } = deps;
  const removal = createWorktreeRemoval(deps);
  const repositories = createWorkspaceRepositories(deps);
  const records = createUndoRecords(deps.storage, deps.clock);
  const resolveEnded = (prefix: string): EndedSession => resolveEndedSession(sessions, prefix);
  // Changes of a session's branch run one at a time.
  const oneAtATime = createKeyedQueue();
  const more = { ...deps, records, removal, resolveEnded, oneAtATime };
  const discards = createDiscardActions(more);
  const undos = createUndoActions(more);
  const { discardDue } = createRaceClearing({ ...deps, discard: discards.discard });

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

  return {
    listWorktrees: createWorktreeLister(deps, repositories),
    pruneWorktrees: createWorktreePruner(deps, repositories, removal),

    async tryPromotion(wanted, caller) {
      const { session, base } = resolvePromotion(wanted, caller);
      const { sessionId, repository, branch, baseCommit } = session;
      const began = optionalField('baseCommit', baseCommit ?? undefined);
      const { title: subject } = describePromotedWork(deps, session);
      return {
        sessionId,
        subject,
        ...(await worktrees.tryPromotion({ repository, branch, base, ...began })),
      };
    },

    async draftMessage(wanted, caller) {
      const { session, base } = resolvePromotion(wanted, caller);
      const { sessionId, repository, branch } = session;
      const work = describePromotedWork(deps, session);
      const squash = await worktrees.draftSquashMessage({ repository, branch, base, ...work });
      return {
        sessionId,
        ...squash,
        ...(wanted.strategy === 'merge' ? { message: writeMergeMessage(session) } : {}),
      };
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
  };
}

import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { UndonePromotion } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Session } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { RecordedPromotion, UndoRecords } from './undo-records.ts';

export interface UndoResult extends UndonePromotion {
  sessionId: string;
  branch: string;
  base: string;
  /** The base's commit before, which contained the work, and now. */
  before: string;
  after: string;
  /** The session's worktree if it is restored; null otherwise. */
  worktree: string | null;
}

export interface UndoActions {
  /** Undoes the last promotion of a session, while its base has not moved. */
  undoPromotion(wanted: { session: string }, caller: Caller): Promise<UndoResult>;
  /** Resumes operations that an earlier host did not finish. */
  recover(onProblem: (sessionId: string, error: unknown) => void): Promise<void>;
}

type UndoDeps = Pick<WorktreeActionsDeps, 'storage' | 'events' | 'sessions' | 'worktrees' | 'races'> & {
  records: UndoRecords;
  oneAtATime<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
};

export function createUndoActions(deps: UndoDeps): UndoActions {
  const { storage, events, sessions, worktrees, records } = deps;

  function requirePromotion(session: Session): RecordedPromotion & { branch: string; repository: string } {
    const { sessionId, branch, repository, promotedAt } = session;
    const recorded = records.findPromotion(sessionId);
    if (branch !== null && repository !== null && recorded !== null && promotedAt !== null)
      return { ...recorded, branch, repository };
    if (promotedAt === null)
      throw new SvcError('conflict', `${sessionId} is not promoted`, {
        hint: sentence`{worktree.promote ${sessionId}}`,
      });
    throw new SvcError('conflict', `promoting ${sessionId} changed nothing that could be undone`, {
      hint: 'its base already contained the work',
    });
  }

  /** Restores the worktree that was removed with the promotion; its branch already exists. */
  async function restoreFolder(promotion: ReturnType<typeof requirePromotion>): Promise<string | null> {
    const { sessionId, branch, repository, head, path } = promotion;
    const { worktree, branchState } = sessions.get(sessionId);
    if (worktree !== null || path === null || branchState === 'continued') return findLocalPath(worktree);
    const saved = { head, detached: null, files: null, path };
    await worktrees.restore({ repository, branch, saved, withWorktree: true });
    return path;
  }

  async function undoOne(
    sessionId: string,
    { actor, via }: Pick<Caller, 'actor' | 'via'>,
  ): Promise<UndoResult> {
    const session = sessions.get(sessionId);
    const promotion = requirePromotion(session);
    const { branch, base, before, after } = promotion;
    await storage.write(() => records.beginUndo(sessionId));
    let undone: UndonePromotion;
    try {
      undone = await worktrees.undoPromotion(promotion);
    } catch (error) {
      const now = await worktrees.findHead(promotion.repository, base).catch(() => null);
      if (now !== before) await storage.write(() => records.abandonUndo(sessionId));
      throw error;
    }
    // The branch is what matters; a blocked worktree can be requested again.
    const worktree = await restoreFolder(promotion).catch(() => null);
    return storage.write(() => {
      sessions.promotionUndone(sessionId);
      deps.races.reopen(session, { actor, via });
      if (sessions.get(sessionId).branchState !== 'continued') sessions.branchBecame(sessionId, null);
      if (worktree !== null) sessions.worktreeBack(sessionId, worktree);
      records.forgetPromotion(sessionId);
      const { taskId, title } = session;
      const data = { title, branch, base, before: after, after: before, worktree };
      events.append({ kind: 'promotion_undone', sessionId, taskId, actor, via, data });
      return { sessionId, branch, base, before: after, after: before, worktree, ...undone };
    });
  }

  return {
    async undoPromotion(wanted, caller) {
      const { sessionId } = sessions.resolve(wanted.session);
      return deps.oneAtATime(sessionId, () => undoOne(sessionId, caller));
    },
    async recover(onProblem) {
      for (const { sessionId } of records.listInterruptedUndos())
        await deps
          .oneAtATime(sessionId, () => undoOne(sessionId, { actor: 'svc', via: 'engine' }))
          .catch((error: unknown) => onProblem(sessionId, error));
    },
  };
}

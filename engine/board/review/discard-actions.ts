import { existsSync } from 'node:fs';
import type { CallAuthor, Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { SavedState } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Session } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { EndedSession } from './ended-session.ts';
import { createWorkRestorer, type RestoreResult } from './restore-work.ts';
import type { DiscardedWork, UndoRecords } from './undo-records.ts';
import type { WorktreeRemoval } from './worktree-removal.ts';

export interface DiscardResult {
  sessionId: string;
  branch: string;
  /** The branch's commit; null if the branch was gone. */
  head: string | null;
  /** True if files that were in no commit are saved with it. */
  hasFiles: boolean;
  /** The worktree's folder that was removed; null for none. */
  worktree: string | null;
  savedRefs: string[];
  /** Notes for the caller, such as what happened to ignored files. */
  warnings: string[];
}

export interface DiscardActions {
  /** Removes the branch and worktree of an ended session, regardless of their contents, after saving all of it. Repeatable. */
  discard(wanted: { session: string }, by: CallAuthor): Promise<DiscardResult>;
  /** Restores a removed branch and, if requested, its worktree. Repeatable. */
  restore(
    wanted: { session: string; worktree?: boolean | undefined },
    caller: Caller,
  ): Promise<RestoreResult>;
  /** Resumes operations that an earlier host did not finish. */
  recover(onProblem: (sessionId: string, error: unknown) => void): Promise<void>;
}

type DiscardDeps = Pick<WorktreeActionsDeps, 'storage' | 'events' | 'sessions' | 'worktrees' | 'visitors'> & {
  records: UndoRecords;
  removal: WorktreeRemoval;
  /** Finds an ended session that no other session continues. */
  resolveEnded(prefix: string): EndedSession;
  /** One change of a session's branch at a time. */
  oneAtATime<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
};

export function createDiscardActions(deps: DiscardDeps): DiscardActions {
  const { storage, events, sessions, worktrees, records, removal } = deps;
  const restoreSession = createWorkRestorer(deps);

  /** Inside `storage.write`: from here on no session can continue this one. Throws if one does. */
  function beginDiscard(sessionId: string, actor: string, earlier: DiscardedWork | null): EndedSession {
    if (earlier?.isDone === false) sessions.branchBecame(sessionId, earlier.stateBefore);
    const session = deps.resolveEnded(sessionId);
    const conflict = deps.visitors.findVisitorConflict(sessionId);
    if (conflict !== null) throw conflict;
    records.beginDiscard(session, actor);
    sessions.branchBecame(sessionId, 'discarded');
    return session;
  }

  async function removeWork(session: EndedSession, by: CallAuthor): Promise<DiscardResult> {
    const { sessionId, taskId, title, branch, repository } = session;
    const worktree = findLocalPath(session.worktree);
    const warnings: string[] = [];
    const recordSavedState = (saved: SavedState) =>
      storage.write(() => records.recordSaved(sessionId, saved));
    await removal.prepareRemoval(warnings)({ branch, path: worktree });
    const { isGone, ...removed } = await worktrees.discard({
      repository,
      branch,
      worktree,
      record: recordSavedState,
    });
    const { savedRefs, ignored } = removed;
    const saved = records.findDiscarded(sessionId);
    if (isGone && saved?.head == null && saved?.path == null)
      throw new SvcError('not_found', `${sessionId} has neither a branch nor a worktree any more`);
    return storage.write(() => {
      records.finishDiscard(sessionId);
      sessions.worktreeGone(sessionId);
      const { head = null, path = null, files = null } = saved ?? {};
      const data = { title, branch, head, savedRefs };
      events.append({ kind: 'worktree_discarded', sessionId, taskId, ...by, data });
      const result = { sessionId, branch, head, hasFiles: files !== null, worktree: path, savedRefs };
      return { ...result, warnings: [...warnings, ...ignored] };
    });
  }

  async function discardSession(sessionId: string, by: CallAuthor): Promise<DiscardResult> {
    const earlier = records.findDiscarded(sessionId);
    const { branch, branchState } = sessions.get(sessionId);
    if (earlier?.isDone && branchState === 'discarded' && branch !== null) {
      const { head, path, files } = earlier;
      const refs = await listSavedRefs(worktrees, sessions.get(sessionId));
      return {
        sessionId,
        branch,
        head,
        hasFiles: files !== null,
        worktree: path,
        savedRefs: refs,
        warnings: [],
      };
    }
    const session = await storage.write(() => beginDiscard(sessionId, by.actor, earlier));
    try {
      return await removeWork(session, by);
    } catch (error) {
      const begun = records.findDiscarded(sessionId);
      // The saved refs may be in the process of being removed: the next attempt continues from there.
      const mayBeGone = begun !== null && (begun.head !== null || begun.path !== null);
      if (begun !== null && !(mayBeGone && (await isPartlyGone(worktrees, session, begun))))
        await storage.write(() => abandonDiscard(deps, begun, earlier));
      throw error;
    }
  }

  return {
    async discard(wanted, { actor, via }) {
      const { sessionId } = sessions.resolve(wanted.session);
      return deps.oneAtATime(sessionId, () => discardSession(sessionId, { actor, via }));
    },
    async restore(wanted, { actor, via }) {
      const { sessionId } = sessions.resolve(wanted.session);
      return deps.oneAtATime(sessionId, () =>
        restoreSession(sessionId, wanted.worktree === true, { actor, via }),
      );
    },
    async recover(onProblem) {
      for (const { sessionId, actor } of records.listUnfinishedDiscards())
        await deps
          .oneAtATime(sessionId, () => discardSession(sessionId, { actor, via: 'engine' }))
          .catch((error: unknown) => onProblem(sessionId, error));
    },
  };
}

/** Reports whether some saved refs were already removed. False when in doubt, since then nothing is known to be. */
async function isPartlyGone(
  worktrees: WorktreeActionsDeps['worktrees'],
  { repository, branch }: EndedSession,
  saved: DiscardedWork,
): Promise<boolean> {
  const head = await worktrees.findHead(repository, branch).catch(() => saved.head);
  return head !== saved.head || (saved.path !== null && !existsSync(saved.path));
}

async function listSavedRefs(
  worktrees: WorktreeActionsDeps['worktrees'],
  { repository, branch }: Session,
): Promise<string[]> {
  if (repository === null || branch === null) return [];
  return (await worktrees.listSavedRefs(repository, branch)).map(({ ref }) => ref);
}

/** Inside `storage.write`: it was refused, and everything is as before. */
function abandonDiscard(
  { records, sessions }: Pick<DiscardDeps, 'records' | 'sessions'>,
  { sessionId, stateBefore }: DiscardedWork,
  earlier: DiscardedWork | null,
): void {
  // Its files may still wait for the worktree.
  if (earlier?.isDone) records.finishDiscard(sessionId);
  else records.forgetDiscard(sessionId);
  sessions.branchBecame(sessionId, stateBefore);
}

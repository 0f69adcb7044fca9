import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { SavedState } from '../../workers/runner/worktrees/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { UndoRecords } from './undo-records.ts';

export interface RestoreResult {
  sessionId: string;
  branch: string;
  head: string | null;
  /** The worktree's folder if it is restored too; null otherwise. */
  worktree: string | null;
  /** True if files that were in no commit can still be restored with the worktree. */
  filesWait: boolean;
}

/** Creates the restoring of discarded work, and of merged branches. */
export function createWorkRestorer({
  storage,
  events,
  sessions,
  worktrees,
  records,
}: Pick<WorktreeActionsDeps, 'storage' | 'events' | 'sessions' | 'worktrees'> & { records: UndoRecords }) {
  /** Finds the refs to restore a session's branch. Throws `not_found`, and `conflict` if it was never removed. */
  async function requireSaved(
    session: Session,
  ): Promise<SavedState & { branch: string; repository: string }> {
    const { sessionId, branch, repository, headCommit } = session;
    if (branch === null || repository === null)
      throw new SvcError('not_found', `${sessionId} has no separate branch`);
    const discarded = records.findDiscarded(sessionId);
    if (discarded !== null) return { ...discarded, branch, repository };
    const saved = await worktrees.listSavedRefs(repository, branch);
    // For a merged and removed one: its last recorded commit.
    const known =
      saved.find(({ commit }) => commit === headCommit) ?? (saved.length === 1 ? saved[0] : undefined);
    if (known !== undefined)
      return { head: known.commit, detached: null, files: null, path: null, branch, repository };
    if ((await worktrees.findHead(repository, branch)) !== null)
      throw new SvcError('conflict', `${branch} still exists: ${sessionId} was not discarded`, {
        hint: sentence`{worktree.status} lists the existing ones`,
      });
    throw new SvcError('not_found', `no saved work of ${sessionId} is left`, {
      data: { branch, refs: saved.map(({ ref }) => ref) },
    });
  }

  async function restoreSession(
    sessionId: string,
    withWorktree: boolean,
    by: Pick<Caller, 'actor' | 'via'>,
  ): Promise<RestoreResult> {
    const { taskId, title, branchState } = sessions.get(sessionId);
    if (branchState === 'continued')
      throw new SvcError('conflict', `a later run has continued ${sessionId}, on its branch`);
    const { branch, repository, ...saved } = await requireSaved(sessions.get(sessionId));
    await worktrees.restore({ repository, branch, saved, withWorktree });
    const worktree = withWorktree ? saved.path : null;
    const filesWait = !withWorktree && saved.path !== null && saved.files !== null;
    return storage.write(() => {
      if (sessions.get(sessionId).branchState === 'discarded') sessions.branchBecame(sessionId, null);
      sessions.setDiscardDue(sessionId, false);
      if (worktree !== null) sessions.worktreeBack(sessionId, worktree);
      if (!filesWait) records.forgetDiscard(sessionId);
      const data = { title, branch, head: saved.head, worktree };
      events.append({ kind: 'worktree_restored', sessionId, taskId, ...by, data });
      return { sessionId, branch, head: saved.head, worktree, filesWait };
    });
  }

  return restoreSession;
}

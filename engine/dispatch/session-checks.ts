import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Session, SessionVisitors } from '../workers/sessions/index.ts';

export const isPaused = ({ state, resumeAt }: Session): boolean => state === 'queued' && resumeAt !== null;

export const discardedError = (sessionId: string): SvcError =>
  new SvcError('conflict', `${sessionId} was discarded`, {
    hint: sentence`{worktree.restore ${sessionId} worktree=true} restores its branch and worktree`,
  });

/** Throws while someone is in the session: two agents in one worktree would undo each other's work. */
export function checkUnvisited(
  visitors: Pick<SessionVisitors, 'findVisitorConflict'>,
  sessionId: string,
): void {
  const conflict = visitors.findVisitorConflict(sessionId);
  if (conflict !== null) throw conflict;
}

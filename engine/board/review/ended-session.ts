import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';

/** An ended session with its own branch. */
export type EndedSession = Session & { branch: string; repository: string };

/** Finds an ended session that no other session continues. */
export function resolveEndedSession(sessions: WorktreeActionsDeps['sessions'], prefix: string): EndedSession {
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

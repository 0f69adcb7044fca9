import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Sessions } from './registry.ts';
import type { Session } from './rows.ts';
import type { SessionVisitors } from './visitors.ts';

/** Finds ended sessions that can get more work. */
export interface FollowUps {
  /**
   * Returns an ended session whose worktree still exists and is not in use. Throws `conflict` for any other, with the
   * alternative.
   */
  require(sessionId: string): Session;
  /** Finds a worker's last session, by its given name or `w-3`, if it can get more work; otherwise null. */
  findOfWorker(name: string): Session | null;
}

export function createFollowUps({
  sessions,
  visitors,
}: {
  sessions: Pick<Sessions, 'get' | 'findSuccessor' | 'byBranch' | 'newestOfWorker'>;
  visitors: Pick<SessionVisitors, 'findVisitorConflict'>;
}): FollowUps {
  function findObstacle(session: Session): SvcError | null {
    const { sessionId, state, branch } = session;
    if (state !== 'ended')
      return new SvcError('conflict', `${sessionId} has not ended: it is ${state}`, {
        hint: sentence`{msg.send "…" to_session=${sessionId}} reaches a worker while it works`,
      });
    const successor = sessions.findSuccessor(sessionId);
    if (successor !== null)
      return new SvcError('conflict', `${successor.sessionId} continues ${sessionId}, in its worktree`, {
        hint: sentence`{msg.send "…" to_session=${successor.sessionId}} reaches it; once it has ended it can get more work`,
      });
    if (session.branchState === 'continued' && branch !== null) {
      const newest = sessions.byBranch(branch)?.sessionId ?? sessionId;
      return new SvcError('conflict', `${newest} has continued ${sessionId}`, {
        hint: sentence`{worker.follow_up ${newest}}`,
      });
    }
    if (session.branchState === 'discarded')
      return new SvcError('conflict', `${sessionId} was discarded`, {
        hint: sentence`{worktree.restore ${sessionId} worktree=true} restores its branch and worktree`,
      });
    if (session.worktree === null && !session.inplace)
      return new SvcError('conflict', `the worktree of ${sessionId} no longer exists`, {
        hint: sentence`{task.add} and {task.run} start again, from the promoted state`,
      });
    return visitors.findVisitorConflict(sessionId);
  }

  return {
    require(sessionId) {
      const session = sessions.get(sessionId);
      const obstacle = findObstacle(session);
      if (obstacle !== null) throw obstacle;
      return session;
    },
    findOfWorker(name) {
      const session = sessions.newestOfWorker(name);
      return session !== null && findObstacle(session) === null ? session : null;
    },
  };
}

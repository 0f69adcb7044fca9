import { asSvcError } from '../../core/base/errors.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';
import type { DiscardActions } from './discard-actions.ts';

/** Reports whether a discard would remove anything of it. */
const hasWork = ({ branch, branchState, worktree }: Session): boolean =>
  branch !== null && (branchState === null || branchState === 'merged' || worktree !== null);

/** Discards the sessions that lost their race, each when it has ended; their work stays under saved refs. */
export function createRaceClearing({
  storage,
  sessions,
  discard,
}: Pick<WorktreeActionsDeps, 'storage' | 'sessions'> & Pick<DiscardActions, 'discard'>): {
  discardDue(): Promise<string[]>;
} {
  async function discardOne(session: Session): Promise<string | null> {
    const { sessionId, branchState } = session;
    try {
      // A later session has its branch: someone has continued it.
      const isOthers = branchState === 'continued' || sessions.findSuccessor(sessionId) !== null;
      if (!isOthers && hasWork(session))
        await discard({ session: sessionId }, { actor: 'svc', via: 'engine' });
    } catch (error) {
      const { code, message } = asSvcError(error);
      // Missing branches need no discard; other failures are retried with the next promotion or start.
      if (code !== 'not_found') return `${sessionId} is not discarded: ${message}`;
    }
    await storage.write(() => sessions.setDiscardDue(sessionId, false));
    return null;
  }

  return {
    async discardDue() {
      const problems: string[] = [];
      for (const session of sessions.listDiscardDue()) {
        // Another call may have been quicker, and a person may have restored it since.
        if (!sessions.isDiscardDue(session.sessionId)) continue;
        const problem = await discardOne(sessions.get(session.sessionId));
        if (problem !== null) problems.push(problem);
      }
      return problems;
    },
  };
}

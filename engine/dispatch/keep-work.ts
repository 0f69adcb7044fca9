import { nameSavedWork } from '../core/base/saved-work.ts';
import type { KeptWorktree } from '../workers/runner/runs/index.ts';
import { findPlacement, type Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

/** Saves the work of a session. @param isPause it continues later: nothing is committed */
export function keepSessionWork(
  { sessions, runner }: Pick<DispatchDeps, 'sessions' | 'runner'>,
  session: Session,
  isPause: boolean,
): Promise<KeptWorktree> {
  const { sessionId, taskId, profile, runs } = session;
  return runner.keep({
    sessionId,
    number: runs,
    profile,
    placement: findPlacement(session),
    isAlone: sessions.isOnlyInplace(sessionId),
    message: isPause ? null : nameSavedWork(`${sessionId} (${taskId})`),
  });
}

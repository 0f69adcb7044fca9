import type { CallAuthor } from '../core/api/operation.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

/** Returns `Dispatcher.resume` and `Dispatcher.resumePaused`. */
export function createResume(deps: DispatchDeps, startWaiting: () => void) {
  const { storage, sessions, tasks, events, clock } = deps;

  function resumeSession(sessionId: string, by: CallAuthor): boolean {
    deps.requireConsent();
    const { taskId, title, agent } = sessions.get(sessionId);
    const now = clock.now();
    if (!sessions.resumeAt(sessionId, now)) return false;
    tasks.pause(taskId, sessionId, now);
    events.append({ kind: 'session_resumed', taskId, sessionId, ...by, data: { title, agent } });
    storage.afterCommit(startWaiting);
    return true;
  }

  async function resumePaused(code: string): Promise<void> {
    const isMeant = (session: Session): boolean =>
      session.state === 'queued' && session.resumeAt !== null && session.pause?.code === code;
    if (!sessions.listLive().some(isMeant)) return;
    await storage.write(() => {
      for (const session of sessions.listLive())
        if (isMeant(session)) resumeSession(session.sessionId, { actor: 'svc', via: 'engine' });
    });
  }

  return { resume: resumeSession, resumePaused };
}

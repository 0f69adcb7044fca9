import type { CallAuthor } from '../core/api/operation.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { describeQuestions } from './pause.ts';

/** Returns `Dispatcher.resume`, `Dispatcher.resumePaused` and `Dispatcher.resumeAnswered`. */
export function createResume(deps: DispatchDeps, startWaiting: () => void) {
  const { storage, sessions, tasks, events, clock, questions } = deps;

  function resumeSession(sessionId: string, by: CallAuthor): boolean {
    deps.requireConsent();
    const { taskId, title, agent, pause } = sessions.get(sessionId);
    // A person does not wait for it any more: it would pause the session again.
    if (pause?.code === 'unanswered') questions.drop(sessionId);
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

  function resumeAnswered(sessionId: string): void {
    if (!sessions.isKnown(sessionId)) return;
    const { state, pause } = sessions.get(sessionId);
    if (state !== 'queued' || pause?.code !== 'unanswered') return;
    const kept = questions.keep(sessionId);
    if (kept.open.length > 0) return;
    sessions.explainPause(sessionId, describeQuestions(kept));
    resumeSession(sessionId, { actor: 'svc', via: 'engine' });
  }

  return { resume: resumeSession, resumePaused, resumeAnswered };
}

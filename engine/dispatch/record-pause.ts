import { rfc3339 } from '../core/base/clock.ts';
import type { StreamFacts } from '../workers/agents/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunPause } from './pause.ts';
import type { PersistRun } from './persist.ts';

/**
 * Pauses the session; the worktree stays unchanged, including uncommitted files. False if it was stopped, or its
 * task has ended, in the meantime.
 */
export function pauseSession(
  { sessions, tasks, events, keys }: DispatchDeps,
  persist: PersistRun,
  session: Session,
  { until, code, text, idlePauses, isLost }: RunPause,
  facts: StreamFacts,
): Promise<boolean> {
  const { sessionId, taskId, decisionId, title, agent } = session;
  return persist(`the pause of ${sessionId}`, () => {
    // It may be done by now, or wait for another run.
    const task = tasks.get(taskId);
    const isIts = task.sessionId === sessionId || (session.race !== null && task.race === session.race);
    if (!isIts || task.status === 'done' || task.status === 'failed') return false;
    if (!sessions.pause(sessionId, { resumeAt: until, code, text, idlePauses })) return false;
    sessions.heard(sessionId, facts);
    if (isLost) sessions.forgetConversation(sessionId);
    keys.revokeKey(sessionId);
    tasks.pause(taskId, sessionId, until);
    events.append({
      kind: 'session_paused',
      taskId,
      decisionId,
      sessionId,
      via: 'engine',
      data:
        code === 'unanswered'
          ? { title, agent, code, reason: 'waits for an answer' }
          : { title, agent, code, reason: `${agent} ended with ${code}`, resumeAt: rfc3339(until) },
    });
    return true;
  });
}

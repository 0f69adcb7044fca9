import { rfc3339 } from '../core/base/clock.ts';
import type { StreamFacts } from '../workers/agents/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunPause } from './pause.ts';
import type { PersistRun } from './persist.ts';

/** Reports whether a session still works for its task: that may be done by now, or wait for another run. */
export function hasOpenTask(
  tasks: Pick<DispatchDeps['tasks'], 'get'>,
  { sessionId, taskId, race }: Session,
): boolean {
  const task = tasks.get(taskId);
  const isIts = task.sessionId === sessionId || (race !== null && task.race === race);
  return isIts && task.status !== 'done' && task.status !== 'failed';
}

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
    if (!hasOpenTask(tasks, session)) return false;
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
          : {
              ...{ title, agent, code, resumeAt: rfc3339(until) },
              reason: code === 'runner_lost' ? text : `${agent} ended with ${code}`,
            },
    });
    return true;
  });
}

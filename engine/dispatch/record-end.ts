import type { StreamFacts } from '../workers/agents/index.ts';
import type { KeptWorktree } from '../workers/runner/runs/index.ts';
import { decideOutcome, type Session, workLeftBy } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunVerdict } from './verdict.ts';

/** Records the end of a session, inside `storage.write`. The first end is final. */
export function recordEnd(
  deps: DispatchDeps,
  session: Session,
  verdict: RunVerdict,
  kept: KeptWorktree,
  facts: StreamFacts,
): void {
  const { sessions, tasks, events } = deps;
  const { sessionId, taskId, decisionId, title, agent, project, branch } = session;
  const { ownWord } = sessions.get(sessionId);
  const left = workLeftBy({ ...session, commits: kept.commits });
  const { status, failure } = decideOutcome(ownWord, verdict.failure, left, { mayRetry: true });
  if (!sessions.end(sessionId, { ...verdict, failure, ...kept })) return;
  sessions.heard(sessionId, facts);
  deps.keys.revokeKey(sessionId);
  // The worker's mark of its task does not concern the agent.
  deps.circuits.recordEnd(agent, verdict.cause ?? verdict.failure);
  deps.races.sessionEnded(session);
  // The task may be another session's, or have been marked while this one waited.
  if (tasks.get(taskId).sessionId === sessionId) {
    const marked = ownWord === null ? [] : (['done', 'failed'] as const);
    tasks.end(taskId, ['assigned', 'running', ...marked], { status, exitCode: verdict.exitCode, failure });
  }
  const task = tasks.get(taskId);
  const mayRetry = task.sessionId === sessionId && task.status === 'failed';
  const outcome = decideOutcome(ownWord, failure, left, { mayRetry });
  const reason = verdict.reason ?? failure?.text ?? null;
  const { contradiction } = outcome;
  const about = { taskId, decisionId, sessionId, via: 'engine' };
  events.append({
    ...about,
    // Recipients of failures have been asked to approve it again: the task has not failed.
    kind: failure === null ? 'sealed' : failure.code === 'inputs_changed' ? 'session_dropped' : 'failed',
    data: {
      title,
      agent,
      project,
      code: failure?.code ?? null,
      reason: contradiction === null ? reason : `${reason} (${contradiction})`,
      exitCode: verdict.exitCode,
      branch,
      commits: kept.commits,
      files: kept.files,
    },
  });
  deps.atEnd(sessions.get(sessionId), { ...verdict, reason, outcome }, kept);
  if (kept.left.length === 0) return;
  const look = 'check the worktree: svc task show shows the reason';
  events.append({ ...about, kind: 'alert', data: { title, reason: look, detail: kept.left.join('; ') } });
}

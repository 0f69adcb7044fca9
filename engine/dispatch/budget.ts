import { SvcError } from '../core/base/errors.ts';
import type { Session, Sessions } from '../workers/sessions/index.ts';
import type { DispatchDeps, RunKeys } from './context.ts';

/** Throws `budget_exceeded` if the runs of the task so far have used up its budget. */
export function checkBudget({ sessions }: Pick<DispatchDeps, 'sessions'>, session: Session): void {
  const { taskId, tokenBudget } = session;
  if (tokenBudget === null) return;
  const spent = sessions
    .ofTask(taskId)
    .reduce((sum, { usage }) => sum + (usage === null ? 0 : usage.input + usage.output), 0);
  if (spent < tokenBudget) return;
  throw new SvcError('budget_exceeded', `${taskId} has spent ${spent} of its ${tokenBudget} tokens`, {
    hint: 'run it with a larger SVC_TASK_TOKEN_BUDGET',
  });
}

/** Returns the holder of a key, with what its task has used where the gateway did not count. */
export const describeKeyHolder = (
  sessions: Pick<Sessions, 'claimedByTask'>,
  { sessionId, taskId, tokenBudget }: Pick<Session, 'sessionId' | 'taskId' | 'tokenBudget'>,
): Parameters<RunKeys['issueKey']>[0] => ({
  sessionId,
  taskId,
  budgetTokens: tokenBudget,
  claimedTokens: tokenBudget === null ? 0 : sessions.claimedByTask(taskId),
});

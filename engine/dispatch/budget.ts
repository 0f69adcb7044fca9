import { SvcError } from '../core/base/errors.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

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

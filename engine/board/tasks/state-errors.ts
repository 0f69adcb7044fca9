import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Task } from './rows.ts';

/** Its worker marked the task as failed, but the run has not ended. */
export const taskStillRunsError = ({ taskId, sessionId }: Task): SvcError =>
  sessionId === null ? raceStillRunsError(taskId) : sessionStillRunsError(taskId, sessionId);

const raceStillRunsError = (taskId: string): SvcError =>
  new SvcError('conflict', `sessions of ${taskId} are still being stopped`, {
    hint: sentence`{task.compare ${taskId}} shows them`,
    data: { task_id: taskId, status: 'failed' },
  });

const sessionStillRunsError = (taskId: string, sessionId: string): SvcError =>
  new SvcError('conflict', `${sessionId} marked ${taskId} failed, but still works on it`, {
    hint: sentence`{worker.kill ${sessionId}} ends it; then {task.run ${taskId}} runs it again`,
    data: { task_id: taskId, status: 'failed', session_id: sessionId },
  });

export function taskStateError(task: Task, done: string): SvcError {
  const queued = task.sessionId !== null && task.status === 'assigned';
  const state =
    task.race !== null ? 'being raced' : queued ? `already dispatched as ${task.sessionId}` : task.status;
  return new SvcError('conflict', `${task.taskId} is ${state} and cannot be ${done}`, {
    hint:
      task.race !== null
        ? sentence`{task.compare ${task.taskId}} shows its sessions; {task.cancel ${task.taskId}} stops them`
        : task.status === 'failed'
          ? sentence`{task.run ${task.taskId}}`
          : sentence`{task.show ${task.taskId}}`,
    data: { task_id: task.taskId, status: task.status, session_id: task.sessionId },
  });
}

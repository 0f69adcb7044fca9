import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Workflow, WorkflowDeps } from './workflow.ts';

/** Ends tasks: by a cancellation, or by the word of a worker or a person. */
export function createTaskEnd({
  tasks,
  decisions,
  dispatch,
  races,
  record,
}: Pick<WorkflowDeps, 'tasks' | 'decisions' | 'dispatch' | 'races' | 'record'>): Pick<
  Workflow,
  'cancel' | 'done'
> {
  return {
    cancel(taskId, by, why = null) {
      const task = tasks.get(taskId);
      const isMarked = task.status === 'done' || task.status === 'failed';
      // A worker that has marked its task may still be running.
      if (isMarked && (task.sessionId === null || !dispatch.isLive(task.sessionId))) {
        throw new SvcError('conflict', `${taskId} has already ended (${task.status})`);
      }
      decisions.expire(taskId, 'cancelled', by);
      if (task.race !== null) {
        for (const { sessionId } of races.cancel(task.race, by)) dispatch.stop(sessionId, 'cancelled', by);
      }
      if (task.sessionId !== null) {
        dispatch.stop(task.sessionId, 'cancelled', by);
      } else {
        const failure = {
          code: 'cancelled',
          text: `cancelled by ${by.actor}${why === null ? '' : `: ${why}`}`,
        };
        tasks.end(taskId, ['open', 'assigned'], { status: 'failed', failure });
        record({
          kind: 'failed',
          taskId,
          ...by,
          data: { title: task.title, reason: failure.text, code: failure.code },
        });
      }
      return tasks.get(taskId);
    },

    done(taskId, { status, summary, speaker }, by) {
      const task = tasks.get(taskId);
      const { sessionId } = task;
      if (task.race !== null) {
        // A worker's mark is about its own work, and the task belongs to none of the workers.
        if (speaker !== null && dispatch.recordOwnWord(speaker, status)) return task;
        throw new SvcError(
          'conflict',
          `${taskId} is being raced: it is done when one of its sessions is promoted`,
          {
            hint: sentence`{task.compare ${taskId}} shows them; {task.cancel ${taskId}} ends the race without a winner`,
            data: { task_id: taskId, status: task.status },
          },
        );
      }
      const isOwn = speaker !== null && speaker === sessionId && dispatch.recordOwnWord(speaker, status);
      const failure =
        status === 'failed' ? { code: 'reported', text: summary ?? `reported by ${by.actor}` } : null;
      const from = ['open', 'assigned', 'running', ...(isOwn ? (['done', 'failed'] as const) : [])] as const;
      if (!tasks.end(taskId, from, { status, failure, summary })) {
        throw new SvcError('conflict', `${taskId} has already ended (${task.status})`);
      }
      decisions.expire(taskId, `marked ${status}`, by);
      if (sessionId !== null && !isOwn && !dispatch.drop(sessionId, by))
        throw new SvcError(
          'conflict',
          `${sessionId} works on ${taskId}, and would continue if it were marked ${status}`,
          {
            hint: sentence`{worker.kill ${sessionId}} ends it; its own worker can mark it now, and you can once it has ended`,
            data: { task_id: taskId, status: task.status, session_id: sessionId },
          },
        );
      record({ kind: 'task_done', taskId, ...by, data: { status, title: task.title } });
      return tasks.get(taskId);
    },
  };
}

import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { parseId } from '../../core/base/ids.ts';
import { makeTitle } from '../../core/base/text.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { createTaskArchive, type TaskArchive } from './archive.ts';
import { createTaskFinder, type TaskFinder } from './find.ts';
import { createTaskInsert, type NewTask } from './new-task.ts';
import { createPredecessorLinks, createTaskOrder, type TaskOrder } from './order.ts';
import type { Task } from './rows.ts';
import { taskStateError, taskStillRunsError } from './state-errors.ts';
import { createTaskSteps, type TaskSteps } from './steps.ts';

export { readIssue } from './issue-reference.ts';
export type { NewTask } from './new-task.ts';
export {
  type ListedTask,
  TASK_STATUSES,
  type Task,
  type TaskOrigin,
} from './rows.ts';
export { applyTemplate, findTemplate, type TaskTemplates, type TemplateFields } from './templates.ts';

/** Owns tasks and their states. Methods that change something are compare-and-set, called inside `storage.write`. */
export interface Tasks extends TaskArchive, TaskFinder, TaskOrder, TaskSteps {
  create(task: NewTask): Task;
  /** Moves a task that is not dispatched to another project. */
  move(taskId: string, project: string | null, by: CallAuthor): Task;
  assign(taskId: string, agent: string, by: CallAuthor): Task;
  /**
   * Replaces the body, and the title if that was its first line. Null if the body is the same; throws `conflict` once
   * the task is dispatched or has ended.
   */
  edit(taskId: string, body: string, by: CallAuthor): Task | null;
  /** Throws `conflict` unless the task is assigned and has no session. */
  checkDispatchable(taskId: string): void;
  /** failed → assigned (or open without an agent), keeping its history. Throws `conflict` while its session lives. */
  retry(taskId: string, by: CallAuthor): Task;
}

export function createTasks({
  storage,
  events,
  clock,
}: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
}): Tasks {
  const { db } = storage;
  const finder = createTaskFinder(storage);
  const getTask = finder.get;
  const linkPredecessors = createPredecessorLinks(storage, finder);
  const moveTo = db.prepare(`UPDATE task SET project = ?
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const assignTo =
    db.prepare(`UPDATE task SET agent = ?, status = 'assigned', assigned_at = ?, archived_at = NULL
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const editOf = db.prepare(`UPDATE task SET body = ?, title = ?
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const retryOf =
    db.prepare(`UPDATE task SET status = CASE WHEN agent IS NULL THEN 'open' ELSE 'assigned' END,
    attempt = attempt + 1, archived_at = NULL, session_id = NULL, started_at = NULL, ended_at = NULL, exit_code = NULL,
    failure_code = NULL, failure_text = NULL WHERE id = ? AND status = 'failed'
    AND NOT EXISTS (SELECT 1 FROM session s WHERE s.task_id = task.id AND s.state <> 'ended')`);

  return {
    ...createTaskArchive({ storage, events, clock }),
    ...finder,
    ...createTaskOrder(storage, events, finder, linkPredecessors),
    ...createTaskSteps(storage, clock, getTask),
    create: createTaskInsert(storage, events, clock, { get: getTask, linkPredecessors }),
    move(taskId, project, by) {
      const before = getTask(taskId);
      if (moveTo.run(project, parseId('t', taskId)).changes === 0) throw taskStateError(before, 'moved');
      events.append({ kind: 'task_changed', taskId, ...by, data: { title: before.title, project } });
      return getTask(taskId);
    },
    assign(taskId, agent, by) {
      const before = getTask(taskId);
      if (assignTo.run(agent, clock.now(), parseId('t', taskId)).changes === 0)
        throw taskStateError(before, 'assigned');
      events.append({ kind: 'task_assigned', taskId, ...by, data: { agent } });
      return getTask(taskId);
    },
    edit(taskId, body, by) {
      const before = getTask(taskId);
      const { title } = before;
      if (body === (before.body === '' ? title : before.body)) return null;
      const next = title === makeTitle(before.body) ? makeTitle(body) : title;
      if (editOf.run(body, next, parseId('t', taskId)).changes === 0) throw taskStateError(before, 'edited');
      // Followers of events must not see the prompt.
      events.append({ kind: 'task_changed', taskId, ...by, data: { title: next } });
      return getTask(taskId);
    },
    checkDispatchable(taskId) {
      const task = getTask(taskId);
      if (task.status !== 'assigned' || task.sessionId !== null || task.race !== null)
        throw taskStateError(task, 'dispatched');
    },
    retry(taskId, by) {
      const before = getTask(taskId);
      if (retryOf.run(parseId('t', taskId)).changes === 0)
        throw before.status === 'failed' ? taskStillRunsError(before) : taskStateError(before, 'retried');
      events.append({ kind: 'task_retried', taskId, ...by, data: { attempt: before.attempt + 1 } });
      return getTask(taskId);
    },
  };
}

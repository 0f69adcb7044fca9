import type { Clock } from '../../core/base/clock.ts';
import { formatId } from '../../core/base/ids.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { TaskFinder } from './find.ts';
import type { LinkPredecessors } from './order.ts';
import { NEW_TASK_COLUMNS, type Task, type TaskOrigin, type TaskRow, type TaskSource } from './rows.ts';

export interface NewTask {
  title: string;
  body: string;
  agent?: string | null | undefined;
  project?: string | null | undefined;
  template?: string | null | undefined;
  acceptanceCriteria?: readonly string[] | undefined;
  context?: string | null | undefined;
  ledger?: string | null | undefined;
  timeoutSec?: number | null | undefined;
  priority?: -1 | 0 | 1 | undefined;
  source: TaskSource;
  sourceRef?: string | null | undefined;
  /** See `Task.sourceUrl`. */
  sourceUrl?: string | null | undefined;
  /** See `Task.authorRole`. */
  authorRole?: string | null | undefined;
  /** See `Task.stranger`. */
  stranger?: string | null | undefined;
  /** See `TaskOrigin`; unknown if left out. */
  origin?: Partial<TaskOrigin> | undefined;
  /** Tasks that have to be finished first, by ids or unique prefixes. */
  after?: readonly string[] | undefined;
  actor: string;
}

/** Creates the insertion of new tasks. */
export function createTaskInsert(
  { db }: Pick<Storage, 'db'>,
  events: Pick<EventLog, 'append'>,
  clock: Pick<Clock, 'now'>,
  { get, linkPredecessors }: Pick<TaskFinder, 'get'> & { linkPredecessors: LinkPredecessors },
): (task: NewTask) => Task {
  const insert = db.prepare(
    `INSERT INTO task (${NEW_TASK_COLUMNS.join(', ')}) VALUES (${NEW_TASK_COLUMNS.map(() => '?').join(', ')})`,
  );

  return (task) => {
    const now = clock.now();
    const agent = task.agent ?? null;
    const row: TaskRow = {
      id: 0,
      title: task.title,
      body: task.body,
      agent,
      project: task.project ?? null,
      template: task.template ?? null,
      status: agent === null ? 'open' : 'assigned',
      acceptance_criteria: JSON.stringify(task.acceptanceCriteria ?? []),
      context: task.context ?? null,
      ledger: task.ledger ?? null,
      source: task.source,
      source_ref: task.sourceRef ?? null,
      source_url: task.sourceUrl ?? null,
      stranger: task.stranger ?? null,
      title_given: task.origin?.isTitleGiven === true ? 1 : 0,
      author: task.origin?.author ?? null,
      author_role: task.authorRole ?? null,
      vouched: task.origin?.isVouched === true ? 1 : 0,
      decision_id: null,
      session_id: null,
      race: null,
      race_ready: 0,
      attempt: 1,
      timeout_sec: task.timeoutSec ?? null,
      priority: task.priority ?? 0,
      resume_at: null,
      archived_at: null,
      created_at: now,
      assigned_at: agent === null ? null : now,
      started_at: null,
      ended_at: null,
      exit_code: null,
      failure_code: null,
      failure_text: null,
      summary: null,
    };
    row.id = Number(insert.run(NEW_TASK_COLUMNS.map((column) => row[column])).lastInsertRowid);
    const taskId = formatId('t', row.id);
    const after = task.after === undefined ? [] : linkPredecessors(taskId, task.after);
    events.append({
      kind: 'task_created',
      taskId,
      actor: task.actor,
      via: task.source,
      data: {
        ...{ title: row.title, agent, project: row.project, status: row.status },
        ...(after.length === 0 ? {} : { after }),
      },
    });
    return get(taskId);
  };
}

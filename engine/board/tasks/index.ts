import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { findByPrefix, formatIdArray, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import { makeTitle } from '../../core/base/text.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { createTaskArchive, type TaskArchive } from './archive.ts';
import {
  NEW_TASK_COLUMNS,
  SUMMARY_COLUMNS,
  type SummaryRow,
  TASK_STATUSES,
  type Task,
  type TaskOrigin,
  type TaskRow,
  type TaskSource,
  type TaskStatus,
  type TaskSummary,
  toSummary,
  toTask,
} from './rows.ts';

export {
  TASK_STATUSES,
  type Task,
  type TaskOrigin,
  type TaskSource,
  type TaskStatus,
  type TaskSummary,
} from './rows.ts';
export { applyTemplate, findTemplate, type TaskTemplates, type TemplateFields } from './templates.ts';

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
  /** See `Task.stranger`. */
  stranger?: string | null | undefined;
  /** See `TaskOrigin`; unknown if left out. */
  origin?: Partial<TaskOrigin> | undefined;
  actor: string;
}

export interface TaskEnd {
  status: 'done' | 'failed';
  exitCode?: number | null;
  failure?: { code: string; text: string } | null;
  summary?: string | null;
}

export interface TaskFilter {
  status?: TaskStatus | undefined;
  ids?: readonly string[] | undefined;
  /** True for archived ones; unarchived ones if left out. */
  archived?: boolean | undefined;
  /** A task id: only older ones. */
  cursor?: string | undefined;
  limit?: number | undefined;
}

/** Owns tasks and their states. Methods that change something are compare-and-set, called inside `storage.write`. */
export interface Tasks extends TaskArchive {
  get(taskId: string): Task;
  readOrigin(taskId: string): TaskOrigin;
  /** Finds a task by its id or a unique prefix. Throws `not_found`, or `conflict` when several match. */
  resolve(prefix: string): Task;
  /** Newest first, at most `limit` (100, or as many as there are `ids`). Unknown `ids` are left out, archived ones are not. */
  list(filter: TaskFilter): TaskSummary[];
  counts(): Record<TaskStatus, number>;
  /** Counts unarchived tasks of a status, or all without one; archived ones with `archived`. */
  count(status?: TaskStatus, archived?: boolean): number;
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
  /** Records that a session is queued for the task. Throws `conflict`. */
  queue(taskId: string, sessionId: string): void;
  /** assigned → running: the session's process was started. */
  start(taskId: string, sessionId: string): void;
  /** running → assigned: its session pauses until then, Unix ms. A paused one may get another time. */
  pause(taskId: string, sessionId: string, resumeAt: number): void;
  /** Back to assigned, without its session, which never ran or must not continue. False if it has another session. */
  release(taskId: string, sessionId: string): boolean;
  /** Records that a race is open on the task, which assigns an open one. Throws `conflict`. */
  beginRace(taskId: string, race: number): void;
  /** assigned → running: a process of the race was started. */
  startRace(taskId: string, race: number): void;
  /** The race is over, and the task belongs to the winner, or to none. */
  leaveRace(taskId: string, race: number, winner: string | null): void;
  /** done → running: the promotion of the winner was undone. False if the task has changed since. */
  reopenRace(taskId: string, race: number, winner: string): boolean;
  /** From a status in `from` to done or failed; false if the task had another one. */
  end(taskId: string, from: readonly TaskStatus[], end: TaskEnd): boolean;
  /** failed → assigned (or open without an agent), keeping its history. Throws `conflict` while its session lives. */
  retry(taskId: string, by: CallAuthor): Task;
}

/** The decision that a task shows is its newest one. */
const NEWEST_DECISION = '(SELECT max(d.id) FROM decision d WHERE d.task_id = task.id) AS decision_id';
const SELECT = `SELECT *, ${NEWEST_DECISION} FROM task`;
const SELECT_SUMMARY = `SELECT ${SUMMARY_COLUMNS.join(', ')}, ${NEWEST_DECISION} FROM task`;

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
  const byId = db.prepare<unknown[], TaskRow>(`${SELECT} WHERE id = ?`);
  const originOf = db.prepare<unknown[], Pick<TaskRow, 'title_given' | 'author' | 'vouched'>>(
    'SELECT title_given, author, vouched FROM task WHERE id = ?',
  );
  const byPrefix = db.prepare<unknown[], TaskRow>(`${SELECT} WHERE CAST(id AS TEXT) LIKE ? LIMIT 2`);
  const moveTo = db.prepare(`UPDATE task SET project = ?
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const newest = db.prepare<unknown[], SummaryRow>(
    `${SELECT_SUMMARY} WHERE id < ? AND archived_at IS NULL ORDER BY id DESC LIMIT +?`,
  );
  const newestArchived = db.prepare<unknown[], SummaryRow>(
    `${SELECT_SUMMARY} INDEXED BY task_archived WHERE archived_at IS NOT NULL AND id < ? AND status = coalesce(?, status)
     ORDER BY id DESC LIMIT +?`,
  );
  const newestOf = db.prepare<unknown[], SummaryRow>(
    `${SELECT_SUMMARY} WHERE status = +? AND id < ? AND archived_at IS NULL ORDER BY id DESC LIMIT +?`,
  );
  const newestAmong = db.prepare<unknown[], SummaryRow>(
    `${SELECT_SUMMARY} WHERE id IN (SELECT value FROM json_each(?)) AND status = coalesce(?, status) AND id < ?
     ORDER BY id DESC LIMIT +?`,
  );
  const countByStatus = db.prepare<unknown[], { status: TaskStatus; n: number }>(
    'SELECT state AS status, n FROM state_count WHERE of = ?',
  );
  const insert = db.prepare(
    `INSERT INTO task (${NEW_TASK_COLUMNS.join(', ')}) VALUES (${NEW_TASK_COLUMNS.map(() => '?').join(', ')})`,
  );
  const assignTo =
    db.prepare(`UPDATE task SET agent = ?, status = 'assigned', assigned_at = ?, archived_at = NULL
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const editOf = db.prepare(`UPDATE task SET body = ?, title = ?
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const queueFor = db.prepare(
    `UPDATE task SET session_id = ?, archived_at = NULL WHERE id = ? AND status = 'assigned' AND session_id IS NULL AND race IS NULL`,
  );
  const startOf = db.prepare(
    `UPDATE task SET status = 'running', resume_at = NULL, started_at = coalesce(started_at, ?) WHERE id = ? AND status = 'assigned' AND session_id = ?`,
  );
  const pauseOf = db.prepare(
    `UPDATE task SET status = 'assigned', resume_at = ?
     WHERE id = ? AND status IN ('assigned', 'running') AND session_id = ?`,
  );
  const releaseOf = db.prepare(
    `UPDATE task SET status = 'assigned', session_id = NULL, resume_at = NULL
     WHERE id = ? AND status IN ('assigned', 'running') AND session_id = ?`,
  );
  const endOf =
    db.prepare(`UPDATE task SET status = ?, resume_at = NULL, ended_at = ?, exit_code = ?, failure_code = ?, failure_text = ?,
    summary = coalesce(?, summary) WHERE id = ? AND status IN (SELECT value FROM json_each(?))`);
  const retryOf =
    db.prepare(`UPDATE task SET status = CASE WHEN agent IS NULL THEN 'open' ELSE 'assigned' END,
    attempt = attempt + 1, archived_at = NULL, session_id = NULL, started_at = NULL, ended_at = NULL, exit_code = NULL,
    failure_code = NULL, failure_text = NULL WHERE id = ? AND status = 'failed'
    AND NOT EXISTS (SELECT 1 FROM session s WHERE s.task_id = task.id AND s.state <> 'ended')`);
  const beginRaceOf =
    db.prepare(`UPDATE task SET race = ?, status = 'assigned', assigned_at = coalesce(assigned_at, ?), archived_at = NULL
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const startRaceOf = db.prepare(
    `UPDATE task SET status = 'running', started_at = coalesce(started_at, ?) WHERE id = ? AND status = 'assigned' AND race = ?`,
  );
  const leaveRaceOf = db.prepare('UPDATE task SET race = NULL, session_id = ? WHERE id = ? AND race = ?');
  const reopenRaceOf =
    db.prepare(`UPDATE task SET race = ?, session_id = NULL, status = 'running', archived_at = NULL, ended_at = NULL,
    exit_code = NULL, failure_code = NULL, failure_text = NULL
    WHERE id = ? AND race IS NULL AND status = 'done' AND session_id = ?`);

  const taskNotFoundError = (id: string) =>
    new SvcError('not_found', `no task ${id}`, { hint: sentence`{task.list} lists them` });

  function getTask(taskId: string): Task {
    const row = byId.get(parseId('t', taskId));
    if (!row) throw taskNotFoundError(taskId);
    return toTask(row);
  }

  function countTasks(of: 'task' | 'archived'): Record<TaskStatus, number> {
    const counts = { open: 0, assigned: 0, running: 0, done: 0, failed: 0 };
    for (const { status, n } of countByStatus.all(of)) counts[status] = n;
    return counts;
  }

  return {
    ...createTaskArchive({ storage, events, clock }),
    get: getTask,
    readOrigin(taskId) {
      const row = originOf.get(parseId('t', taskId));
      if (row === undefined) throw taskNotFoundError(taskId);
      return { isTitleGiven: row.title_given === 1, author: row.author, isVouched: row.vouched === 1 };
    },
    resolve: (prefix) =>
      toTask(
        findByPrefix('t', prefix, { exact: (id) => byId.get(id), like: (pattern) => byPrefix.all(pattern) }),
      ),
    list({ status, ids, archived = false, cursor, limit = ids?.length ?? 100 }) {
      const end = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseId('t', cursor);
      if (ids !== undefined)
        return newestAmong.all(formatIdArray('t', ids), status ?? null, end, limit).map(toSummary);
      if (archived) return newestArchived.all(end, status ?? null, limit).map(toSummary);
      return (status === undefined ? newest.all(end, limit) : newestOf.all(status, end, limit)).map(
        toSummary,
      );
    },
    counts: () => countTasks('task'),
    count(status, archived = false) {
      const [all, put] = [countTasks('task'), countTasks('archived')];
      const statuses = status === undefined ? TASK_STATUSES : [status];
      return statuses.reduce((sum, each) => sum + (archived ? put[each] : all[each] - put[each]), 0);
    },
    create(task) {
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
        stranger: task.stranger ?? null,
        title_given: task.origin?.isTitleGiven === true ? 1 : 0,
        author: task.origin?.author ?? null,
        vouched: task.origin?.isVouched === true ? 1 : 0,
        decision_id: null,
        session_id: null,
        race: null,
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
      const created = toTask(row);
      events.append({
        kind: 'task_created',
        taskId: created.taskId,
        actor: task.actor,
        via: task.source,
        data: { title: row.title, agent, project: row.project, status: row.status },
      });
      return created;
    },
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
    queue(taskId, sessionId) {
      if (queueFor.run(parseId('s', sessionId), parseId('t', taskId)).changes === 0)
        throw taskStateError(getTask(taskId), 'dispatched');
    },
    start(taskId, sessionId) {
      startOf.run(clock.now(), parseId('t', taskId), parseId('s', sessionId));
    },
    pause(taskId, sessionId, resumeAt) {
      pauseOf.run(resumeAt, parseId('t', taskId), parseId('s', sessionId));
    },
    release: (taskId, sessionId) =>
      releaseOf.run(parseId('t', taskId), parseId('s', sessionId)).changes === 1,
    beginRace(taskId, race) {
      if (beginRaceOf.run(race, clock.now(), parseId('t', taskId)).changes === 0)
        throw taskStateError(getTask(taskId), 'raced');
    },
    startRace(taskId, race) {
      startRaceOf.run(clock.now(), parseId('t', taskId), race);
    },
    leaveRace(taskId, race, winner) {
      leaveRaceOf.run(winner === null ? null : parseId('s', winner), parseId('t', taskId), race);
    },
    reopenRace: (taskId, race, winner) =>
      reopenRaceOf.run(race, parseId('t', taskId), parseId('s', winner)).changes === 1,
    end(taskId, from, end) {
      const { changes } = endOf.run(
        end.status,
        clock.now(),
        end.exitCode ?? null,
        end.failure?.code ?? null,
        end.failure?.text ?? null,
        end.summary ?? null,
        parseId('t', taskId),
        JSON.stringify(from),
      );
      return changes === 1;
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

/** Its worker marked the task as failed, but the run has not ended. */
const taskStillRunsError = ({ taskId, sessionId }: Task): SvcError =>
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

function taskStateError(task: Task, done: string): SvcError {
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

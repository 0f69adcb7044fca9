import { SvcError } from '../../core/base/errors.ts';
import { findByPrefix, formatIdArray, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Storage } from '../../storage/index.ts';
import { createOrderReader } from './read-order.ts';
import {
  LISTED_COLUMNS,
  type ListedTask,
  type ListedTaskRow,
  TASK_STATUSES,
  type Task,
  type TaskOrderView,
  type TaskOrigin,
  type TaskRow,
  type TaskStatus,
  toListedTask,
  toTask,
} from './rows.ts';

export interface TaskFilter {
  status?: TaskStatus | undefined;
  ids?: readonly string[] | undefined;
  /** True for archived ones; unarchived ones if left out. */
  archived?: boolean | undefined;
  /** A task id: only older ones. */
  cursor?: string | undefined;
  limit?: number | undefined;
}

/** Finds tasks. */
export interface TaskFinder {
  get(taskId: string): Task;
  readOrigin(taskId: string): TaskOrigin;
  /** Returns what a task waits for; see `Task.waitsFor`. */
  findWait(taskId: string): string | null;
  /** Finds a task by its id or a unique prefix. Throws `not_found`, or `conflict` when several match. */
  resolve(prefix: string): Task;
  /** Newest first, at most `limit` (100, or as many as there are `ids`). Unknown `ids` are left out, archived ones are not. */
  list(filter: TaskFilter): ListedTask[];
  counts(): Record<TaskStatus, number>;
  /** Counts unarchived tasks of a status, or all without one; archived ones with `archived`. */
  count(status?: TaskStatus, archived?: boolean): number;
}

/** The decision that a task shows is its newest one. */
const NEWEST_DECISION = '(SELECT max(d.id) FROM decision d WHERE d.task_id = task.id) AS decision_id';
const WAITS = "EXISTS (SELECT 1 FROM decision d WHERE d.task_id = task.id AND d.state = 'pending') AS waits";
const RACE_READY = `race IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM session s WHERE s.race = task.race AND s.state <> 'ended') AS race_ready`;
const SELECT = `SELECT *, ${NEWEST_DECISION}, ${RACE_READY} FROM task`;
const SELECT_LISTED = `SELECT ${LISTED_COLUMNS.join(', ')}, ${NEWEST_DECISION}, ${WAITS}, ${RACE_READY} FROM task`;

export function createTaskFinder({ db }: Pick<Storage, 'db'>): TaskFinder {
  const byId = db.prepare<unknown[], TaskRow>(`${SELECT} WHERE id = ?`);
  const originOf = db.prepare<unknown[], Pick<TaskRow, 'title_given' | 'author' | 'vouched'>>(
    'SELECT title_given, author, vouched FROM task WHERE id = ?',
  );
  const byPrefix = db.prepare<unknown[], TaskRow>(`${SELECT} WHERE CAST(id AS TEXT) LIKE ? LIMIT 2`);
  const newest = db.prepare<unknown[], ListedTaskRow>(
    `${SELECT_LISTED} WHERE id < ? AND archived_at IS NULL ORDER BY id DESC LIMIT +?`,
  );
  const newestArchived = db.prepare<unknown[], ListedTaskRow>(
    `${SELECT_LISTED} INDEXED BY task_archived WHERE archived_at IS NOT NULL AND id < ? AND status = coalesce(?, status)
     ORDER BY id DESC LIMIT +?`,
  );
  const newestOf = db.prepare<unknown[], ListedTaskRow>(
    `${SELECT_LISTED} WHERE status = +? AND id < ? AND archived_at IS NULL ORDER BY id DESC LIMIT +?`,
  );
  const newestAmong = db.prepare<unknown[], ListedTaskRow>(
    `${SELECT_LISTED} WHERE id IN (SELECT value FROM json_each(?)) AND status = coalesce(?, status) AND id < ?
     ORDER BY id DESC LIMIT +?`,
  );
  const countByStatus = db.prepare<unknown[], { of: 'task' | 'archived'; status: TaskStatus; n: number }>(
    "SELECT of, state AS status, n FROM state_count WHERE of IN ('task', 'archived')",
  );

  const readOrder = createOrderReader({ db });
  const NO_ORDER: TaskOrderView = { after: [], waitsFor: null };
  const describeTask = (row: TaskRow): Task => toTask(row, readOrder([row.id]).get(row.id) ?? NO_ORDER);

  function describeTasks(rows: readonly ListedTaskRow[]): ListedTask[] {
    const orders = readOrder(rows.map(({ id }) => id));
    return rows.map((row) => toListedTask(row, orders.get(row.id) ?? NO_ORDER));
  }

  function getTask(taskId: string): Task {
    const row = byId.get(parseId('t', taskId));
    if (!row) throw taskNotFoundError(taskId);
    return describeTask(row);
  }

  function countTasks(): Record<'task' | 'archived', Record<TaskStatus, number>> {
    const none = { open: 0, assigned: 0, running: 0, done: 0, failed: 0 };
    const counts = { task: none, archived: { ...none } };
    for (const { of, status, n } of countByStatus.all()) counts[of][status] = n;
    return counts;
  }

  return {
    get: getTask,
    findWait(taskId) {
      const id = parseId('t', taskId);
      return readOrder([id]).get(id)?.waitsFor ?? null;
    },
    readOrigin(taskId) {
      const row = originOf.get(parseId('t', taskId));
      if (row === undefined) throw taskNotFoundError(taskId);
      return { isTitleGiven: row.title_given === 1, author: row.author, isVouched: row.vouched === 1 };
    },
    resolve: (prefix) =>
      describeTask(
        findByPrefix('t', prefix, { exact: (id) => byId.get(id), like: (pattern) => byPrefix.all(pattern) }),
      ),
    list({ status, ids, archived = false, cursor, limit = ids?.length ?? 100 }) {
      const end = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseId('t', cursor);
      if (ids !== undefined)
        return describeTasks(newestAmong.all(formatIdArray('t', ids), status ?? null, end, limit));
      if (archived) return describeTasks(newestArchived.all(end, status ?? null, limit));
      return describeTasks(status === undefined ? newest.all(end, limit) : newestOf.all(status, end, limit));
    },
    counts: () => countTasks().task,
    count(status, archived = false) {
      const { task, archived: put } = countTasks();
      const statuses = status === undefined ? TASK_STATUSES : [status];
      return statuses.reduce((sum, each) => sum + (archived ? put[each] : task[each] - put[each]), 0);
    },
  };
}

const taskNotFoundError = (id: string) =>
  new SvcError('not_found', `no task ${id}`, { hint: sentence`{task.list} lists them` });

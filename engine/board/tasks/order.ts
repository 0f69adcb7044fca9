import type { CallAuthor } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { TaskFinder } from './find.ts';
import type { Task } from './rows.ts';
import { taskStateError } from './state-errors.ts';

/** The order of tasks. Methods that change it are called inside `storage.write`. */
export interface TaskOrder {
  /**
   * Replaces the predecessors of a task that has not started. Throws `not_found` for an unknown one, and `conflict` for
   * an archived one, for a cycle, and once the task has started.
   * @param after ids or unique prefixes
   */
  setPredecessors(taskId: string, after: readonly string[], by: CallAuthor): Task;
  /** Lists the repositories whose branches hold finished work that a waiting session needs in its base. */
  listAwaitedRepositories(): string[];
}

/** Links a new task to its predecessors, inside `storage.write`; see `TaskOrder.setPredecessors`. */
export type LinkPredecessors = (taskId: string, after: readonly string[]) => string[];

/** Creates the check and the record of the predecessors of a task. */
export function createPredecessorLinks(
  { db }: Pick<Storage, 'db'>,
  { resolve }: Pick<TaskFinder, 'resolve'>,
): LinkPredecessors {
  const clear = db.prepare('DELETE FROM task_predecessor WHERE task_id = ?');
  const link = db.prepare('INSERT INTO task_predecessor (task_id, after_id) VALUES (?, ?)');
  const linksOf = db.prepare<unknown[], { after_id: number }>(
    'SELECT after_id FROM task_predecessor WHERE task_id = ? ORDER BY after_id',
  );

  /** Finds the tasks on the way from one task to another one that it waits for, both included; null for no way. */
  function findWay(from: number, to: number): number[] | null {
    /** Each reached task, with the one that waits for it. */
    const reached = new Map<number, number | null>([[from, null]]);
    for (const id of reached.keys()) {
      if (id === to) break;
      for (const { after_id: next } of linksOf.all(id)) if (!reached.has(next)) reached.set(next, id);
    }
    if (!reached.has(to)) return null;
    const way: number[] = [];
    for (let id: number | null = to; id !== null; id = reached.get(id) ?? null) way.unshift(id);
    return way;
  }

  return (taskId, after) => {
    const own = parseId('t', taskId);
    const found = after.map((each) => resolve(each));
    for (const { taskId: before, archivedAt } of found) {
      if (archivedAt !== null)
        throw new SvcError('conflict', `${before} is archived, so nothing can wait for it`, {
          hint: sentence`{task.unarchive ${before}} returns it to the lists`,
        });
      const way = findWay(parseId('t', before), own);
      if (way === null) continue;
      const names = way.map((each) => formatId('t', each));
      throw new SvcError(
        'conflict',
        names.length === 1
          ? `${taskId} cannot wait for itself`
          : `${taskId} cannot wait for ${before}, which waits for it: ${[taskId, ...names].join(' after ')}`,
      );
    }
    clear.run(own);
    const ids = [...new Set(found.map((each) => each.taskId))];
    for (const each of ids) link.run(own, parseId('t', each));
    return ids;
  };
}

export function createTaskOrder(
  { db }: Pick<Storage, 'db'>,
  events: Pick<EventLog, 'append'>,
  { get }: Pick<TaskFinder, 'get'>,
  linkPredecessors: LinkPredecessors,
): TaskOrder {
  const hasStarted = db.prepare(
    `SELECT 1 FROM task WHERE id = @id AND status IN ('running', 'done')
     UNION ALL SELECT 1 FROM session WHERE task_id = @id AND state <> 'ended' AND (state <> 'queued' OR runs > 0)`,
  );
  const awaited = db.prepare<unknown[], { repository: string }>(
    `SELECT DISTINCT s.repository FROM session w JOIN unfinished_predecessor u ON u.task_id = w.task_id
     JOIN task p ON p.id = u.after_id JOIN session s ON s.id = p.session_id
     WHERE w.state = 'queued' AND w.runs = 0 AND s.state = 'ended' AND s.repository IS NOT NULL`,
  );

  return {
    setPredecessors(taskId, after, by) {
      const before = get(taskId);
      if (hasStarted.get({ id: parseId('t', taskId) }) !== undefined)
        throw taskStateError(before, 'put after another task');
      const ids = linkPredecessors(taskId, after);
      if (ids.join() !== before.after.join())
        events.append({ kind: 'task_changed', taskId, ...by, data: { title: before.title, after: ids } });
      return get(taskId);
    },
    listAwaitedRepositories: () => awaited.all().map(({ repository }) => repository),
  };
}

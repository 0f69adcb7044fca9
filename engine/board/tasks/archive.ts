import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import type { EventLog, Storage } from '../../storage/index.ts';

/** Archives tasks, so that lists leave them out. Called inside `storage.write`. */
export interface TaskArchive {
  /** Archives a task and returns null; otherwise returns why not, a clause. An archived one stays archived. */
  archive(taskId: string, by: CallAuthor): string | null;
  /** False if it was not archived. */
  unarchive(taskId: string, by: CallAuthor): boolean;
  /** Tasks that ended longer ago than this, ms, and can be archived; oldest first, at most `limit`. */
  listArchivable(olderMs: number, limit: number): string[];
}

const HAS_RUN = `EXISTS (SELECT 1 FROM session s WHERE s.task_id = task.id AND s.state <> 'ended')`;
const HAS_RACE = 'task.race IS NOT NULL';
const HAS_DECISION = `EXISTS (SELECT 1 FROM decision d WHERE d.task_id = task.id
  AND (d.state = 'pending' OR (d.state = 'approved' AND d.consumed_at IS NULL)))`;

export function createTaskArchive({
  storage: { db },
  events,
  clock,
}: {
  storage: Pick<Storage, 'db'>;
  events: Pick<EventLog, 'append'>;
  clock: Pick<Clock, 'now'>;
}): TaskArchive {
  const look = db.prepare<
    unknown[],
    { title: string; archived_at: number | null; has_run: number; has_decision: number; has_race: number }
  >(
    `SELECT title, archived_at, ${HAS_RUN} AS has_run, ${HAS_DECISION} AS has_decision, ${HAS_RACE} AS has_race FROM task WHERE id = ?`,
  );
  const setArchived = db.prepare('UPDATE task SET archived_at = ? WHERE id = ?');
  const archivable = db.prepare<unknown[], { id: number }>(`SELECT id FROM task
    WHERE status IN ('done', 'failed') AND archived_at IS NULL AND ended_at <= ? AND NOT ${HAS_RUN}
    AND NOT ${HAS_DECISION} ORDER BY id LIMIT +?`);

  return {
    archive(taskId, by) {
      const found = look.get(parseId('t', taskId));
      if (found === undefined) return 'no such task';
      if (found.archived_at !== null) return null;
      if (found.has_run === 1) return 'it is being worked on';
      if (found.has_race === 1) return 'no session of its race has been promoted yet';
      if (found.has_decision === 1) return 'it waits for a decision';
      setArchived.run(clock.now(), parseId('t', taskId));
      events.append({ kind: 'task_archived', taskId, ...by, data: { title: found.title } });
      return null;
    },
    unarchive(taskId, by) {
      const found = look.get(parseId('t', taskId));
      if (found === undefined || found.archived_at === null) return false;
      setArchived.run(null, parseId('t', taskId));
      events.append({ kind: 'task_unarchived', taskId, ...by, data: { title: found.title } });
      return true;
    },
    listArchivable: (olderMs, limit) =>
      archivable.all(clock.now() - olderMs, limit).map(({ id }) => formatId('t', id)),
  };
}

import { formatId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import { defineRetentionKind, type RemovableItem, type RetentionKind } from './kind.ts';
import { IS_SETTLED } from './settled.ts';

const AT_ONCE = 200;

/** Condition for a task `t` that is finished and has no remaining references. The newest rows stay, so that no id is reused. */
const IS_OVER = `t.status IN ('done', 'failed') AND t.ended_at < @cutoff
  AND t.id < (SELECT max(id) FROM task)
  AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.task_id = t.id AND (d.state = 'pending'
    OR (d.state = 'approved' AND d.consumed_at IS NULL) OR d.id = (SELECT max(id) FROM decision)))
  AND NOT EXISTS (SELECT 1 FROM ask a WHERE a.task_id = t.id AND a.status = 'open')
  AND NOT EXISTS (SELECT 1 FROM task_predecessor p JOIN task w ON w.id = p.task_id
    WHERE p.after_id = t.id AND w.status <> 'done')
  AND NOT EXISTS (SELECT 1 FROM session s WHERE s.task_id = t.id AND (NOT ${IS_SETTLED}
    OR coalesce(s.ended_at, @cutoff) >= @cutoff OR s.id = (SELECT max(id) FROM session)
    OR EXISTS (SELECT 1 FROM session n WHERE n.continues = s.id AND n.task_id <> t.id)
    OR EXISTS (SELECT 1 FROM discarded_work w WHERE w.session_id = s.id)))`;

/** Ended tasks with their decisions and sessions. */
export function taskRetention({ db }: Pick<Storage, 'db'>): RetentionKind {
  const page = db.prepare<unknown[], { id: number; is_over: number; bytes: number }>(
    `SELECT t.id, (${IS_OVER}) AS is_over, length(t.body) + coalesce(length(t.context), 0)
      + coalesce(length(t.summary), 0) + 300
      + (SELECT coalesce(sum(length(d.inputs) + 300), 0) FROM decision d WHERE d.task_id = t.id)
      + (SELECT 600 * count(*) FROM session s WHERE s.task_id = t.id) AS bytes
    FROM task t WHERE t.id > @after AND t.created_at < @cutoff ORDER BY t.id LIMIT ${AT_ONCE}`,
  );
  const check = db.prepare<unknown[], { is_over: number }>(
    `SELECT (${IS_OVER}) AS is_over FROM task t WHERE t.id = @id`,
  );
  const sessionsOf = db.prepare<unknown[], { id: number }>('SELECT id FROM session WHERE task_id = ?');
  const ofSession = [
    'DELETE FROM verification WHERE session_id = @name',
    'DELETE FROM memory_briefs WHERE session_id = @name',
    'DELETE FROM context_saving WHERE session = @name',
    "DELETE FROM ask WHERE from_session = @name AND status <> 'open'",
    'DELETE FROM virtual_key WHERE session_id = @id',
    'DELETE FROM promotion WHERE session_id = @id',
    'DELETE FROM pull_request WHERE session_id = @id',
    'DELETE FROM lost_run WHERE session_id = @id',
    'DELETE FROM session WHERE id = @id',
  ].map((sql) => db.prepare(sql));
  const ofTask = [
    'DELETE FROM conversation_usage WHERE task_id = ?',
    'DELETE FROM decision WHERE task_id = ?',
    'DELETE FROM receipt WHERE task_id = ?',
    'DELETE FROM race WHERE task_id = ?',
    'DELETE FROM task_predecessor WHERE task_id = ?',
    'DELETE FROM task_predecessor WHERE after_id = ?',
    'DELETE FROM task WHERE id = ?',
  ].map((sql) => db.prepare(sql));

  /** Inside `storage.write`. False for one that is no longer finished. */
  function removeTask(id: number, cutoff: number): boolean {
    if (check.get({ id, cutoff })?.is_over !== 1) return false;
    for (const session of sessionsOf.all(id))
      for (const each of ofSession) runWith(each, { id: session.id, name: formatId('s', session.id) });
    for (const each of ofTask) each.run(id);
    return true;
  }

  return defineRetentionKind<number>({
    key: 'tasks',
    label: 'ended tasks, with decisions and sessions',
    async *find(cutoff) {
      for (let after = 0; ; ) {
        const rows = page.all({ after, cutoff });
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.id;
        const found = rows.filter(({ is_over }) => is_over === 1);
        yield found.map(({ id, bytes }): RemovableItem<number> => ({ item: id, bytes }));
      }
    },
    async remove(part, cutoff, writer) {
      const gone = await writer.writeEach(part, ({ item }) => removeTask(item, cutoff));
      return part.filter((_, at) => gone[at] === true);
    },
  });
}

/** SQLite refuses parameters that a statement does not have. */
function runWith(statement: ReturnType<Storage['db']['prepare']>, names: { id: number; name: string }): void {
  if (statement.source.includes('@name')) statement.run({ name: names.name });
  else statement.run({ id: names.id });
}

import { formatId } from '../../core/base/ids.ts';
import { formatCount } from '../../core/base/text.ts';
import type { Storage } from '../../storage/index.ts';
import type { Task, TaskOrderView } from './rows.ts';

/** The facts about a predecessor that explain why it is not finished. */
interface PredecessorRow {
  task_id: number;
  after_id: number;
  is_unfinished: 0 | 1;
  status: Task['status'] | null;
  failure_code: string | null;
  lives: 0 | 1;
  branch_state: string | null;
  base: string | null;
  pull_request: string | null;
}

function explainPredecessor(row: PredecessorRow): string {
  if (row.status === null) return 'which was removed';
  if (row.status === 'failed')
    return row.failure_code === 'denied' || row.failure_code === 'cancelled'
      ? `which was ${row.failure_code}`
      : 'which failed';
  if (row.status === 'running' || row.lives === 1) return 'which is not done yet';
  if (row.status !== 'done') return 'which has not run yet';
  if (row.branch_state === 'discarded') return 'whose work was discarded';
  if (row.branch_state === 'gone') return 'whose branch was deleted before it was merged';
  return row.pull_request === 'merged'
    ? `whose pull request is merged, but ${row.base ?? 'its base'} here does not have it yet`
    : 'whose work is not merged yet';
}

/** Creates the reader of what tasks wait for, by their numbers; tasks without predecessors are left out. */
export function createOrderReader({
  db,
}: Pick<Storage, 'db'>): (ids: readonly number[]) => Map<number, TaskOrderView> {
  const any = db.prepare('SELECT 1 FROM task_predecessor LIMIT 1');
  const read = db.prepare<unknown[], PredecessorRow>(
    `SELECT w.task_id, w.after_id, EXISTS (SELECT 1 FROM unfinished_predecessor u
       WHERE u.task_id = w.task_id AND u.after_id = w.after_id) AS is_unfinished, p.status, p.failure_code,
       EXISTS (SELECT 1 FROM session l WHERE l.task_id = p.id AND l.state NOT IN ('queued', 'ended')) AS lives,
       s.branch_state, s.base, (SELECT r.state FROM pull_request r WHERE r.session_id = s.id) AS pull_request
     FROM task_predecessor w LEFT JOIN task p ON p.id = w.after_id LEFT JOIN session s ON s.id = p.session_id
     WHERE w.task_id IN (SELECT value FROM json_each(?)) ORDER BY w.task_id, w.after_id`,
  );

  return (ids) => {
    if (ids.length === 0 || any.get() === undefined) return new Map();
    const rows = Map.groupBy(read.all(JSON.stringify(ids)), ({ task_id }) => task_id);
    return new Map(
      [...rows].map(([id, all]) => {
        const [first, ...others] = all.filter(({ is_unfinished }) => is_unfinished === 1);
        const more = others.length === 0 ? '' : `, and ${formatCount(others.length, 'more task')}`;
        const waitsFor =
          first === undefined
            ? null
            : `${formatId('t', first.after_id)}, ${explainPredecessor(first)}${more}`;
        return [id, { after: all.map(({ after_id }) => formatId('t', after_id)), waitsFor }];
      }),
    );
  };
}

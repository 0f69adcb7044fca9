import type { Clock } from '../core/base/clock.ts';
import { formatIdOrNull, parseId } from '../core/base/ids.ts';
import type { Storage } from '../storage/index.ts';

/** What svc has made of the failed checks of one commit. */
export interface CheckRound {
  head: string;
  /** The follow-up; null if there is none. */
  taskId: string | null;
  state: 'open' | 'passed' | 'superseded';
  problem: string | null;
}

interface Row {
  head: string;
  task_id: number | null;
  state: CheckRound['state'];
  problem: string | null;
}

/** The rounds of pull requests, each named by the first session on its branch. Changes are made inside `storage.write`. */
export interface CheckRounds {
  list(firstSession: string): CheckRound[];
  add(firstSession: string, round: Omit<CheckRound, 'state'>): void;
  settle(firstSession: string, head: string, state: CheckRound['state']): void;
}

export function createCheckRounds({ db }: Pick<Storage, 'db'>, clock: Pick<Clock, 'now'>): CheckRounds {
  const all = db.prepare<unknown[], Row>(
    'SELECT * FROM pull_request_round WHERE first_session = ? ORDER BY +id',
  );
  const insert = db.prepare(
    `INSERT OR REPLACE INTO pull_request_round (first_session, head, task_id, state, problem, created_at)
    VALUES (?, ?, ?, 'open', ?, ?)`,
  );
  const update = db.prepare('UPDATE pull_request_round SET state = ? WHERE first_session = ? AND head = ?');
  return {
    list: (session) =>
      all.all(parseId('s', session)).map(({ head, task_id: taskId, state, problem }) => ({
        head,
        taskId: formatIdOrNull('t', taskId),
        state,
        problem,
      })),
    add(session, { head, taskId, problem }) {
      const task = taskId === null ? null : parseId('t', taskId);
      insert.run(parseId('s', session), head, task, problem, clock.now());
    },
    settle(session, head, state) {
      update.run(state, parseId('s', session), head);
    },
  };
}

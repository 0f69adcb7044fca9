import type { Clock } from '../core/base/clock.ts';
import { formatId, formatIdOrNull, parseId } from '../core/base/ids.ts';
import type { Storage } from '../storage/index.ts';

/** The follow-up of svc to the failed checks of a commit, or to a review. */
export interface PullRequestRound {
  kind: 'checks' | 'review';
  /** The commit, or the id of the review. */
  subject: string;
  /** The session that the follow-up continues. */
  sessionId: string;
  /** The follow-up; null if there is none. */
  taskId: string | null;
  state: 'open' | 'passed' | 'superseded';
  problem: string | null;
}

interface Row {
  kind: PullRequestRound['kind'];
  subject: string;
  session_id: number;
  task_id: number | null;
  state: PullRequestRound['state'];
  problem: string | null;
}

/** The rounds of pull requests, each named by the first session on its branch. Changes are made inside `storage.write`. */
export interface PullRequestRounds {
  list(firstSession: string): PullRequestRound[];
  add(firstSession: string, round: Omit<PullRequestRound, 'state'>): void;
  settle(firstSession: string, round: PullRequestRound, state: PullRequestRound['state']): void;
  /** Forgets one, so that it is made again. */
  drop(firstSession: string, round: PullRequestRound): void;
}

export function createPullRequestRounds(
  { db }: Pick<Storage, 'db'>,
  clock: Pick<Clock, 'now'>,
): PullRequestRounds {
  const all = db.prepare<unknown[], Row>(
    'SELECT * FROM pull_request_round WHERE first_session = ? ORDER BY +id',
  );
  const insert = db.prepare(
    `INSERT OR REPLACE INTO pull_request_round
    (first_session, session_id, kind, subject, task_id, state, problem, created_at)
    VALUES (?, ?, ?, ?, ?, 'open', ?, ?)`,
  );
  const where = 'WHERE first_session = ? AND kind = ? AND subject = ?';
  const update = db.prepare(`UPDATE pull_request_round SET state = ? ${where}`);
  const remove = db.prepare(`DELETE FROM pull_request_round ${where}`);
  return {
    list: (session) =>
      all.all(parseId('s', session)).map(({ session_id: sessionId, task_id: taskId, ...row }) => ({
        ...{ kind: row.kind, subject: row.subject, state: row.state, problem: row.problem },
        sessionId: formatId('s', sessionId),
        taskId: formatIdOrNull('t', taskId),
      })),
    add(session, { kind, subject, sessionId, taskId, problem }) {
      const task = taskId === null ? null : parseId('t', taskId);
      const follows = parseId('s', sessionId);
      insert.run(parseId('s', session), follows, kind, subject, task, problem, clock.now());
    },
    settle(session, { kind, subject }, state) {
      update.run(state, parseId('s', session), kind, subject);
    },
    drop(session, { kind, subject }) {
      remove.run(parseId('s', session), kind, subject);
    },
  };
}

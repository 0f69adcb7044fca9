import type { Clock } from '../../core/base/clock.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import { createSessionBranches, type SessionBranches } from './branches.ts';
import { createLostRuns, type LostRuns } from './lost-runs.ts';
import { createSessionQueries, type SessionQueries } from './queries.ts';
import type { NewSession } from './records.ts';
import { createRowReader, type Session } from './rows.ts';
import { createSessionRuns, type SessionRuns } from './runs.ts';
import { parseRunnerId } from './site.ts';
import { createTurns, type SessionTurns } from './turns.ts';
import type { SessionBooks } from './usage.ts';

/** The register of worker sessions. Methods that change it are called inside `storage.write`. */
export interface Sessions extends SessionQueries, SessionTurns, SessionRuns, SessionBranches, LostRuns {
  create(session: NewSession): Session;
}

export function createSessions({
  storage,
  clock,
  books,
}: {
  storage: Storage;
  clock: Clock;
  books: SessionBooks;
}): Sessions {
  const { db } = storage;
  const workerNamed = db.prepare<unknown[], { id: number }>('SELECT id FROM worker WHERE name = ?');
  const addWorker = db.prepare('INSERT INTO worker (name) VALUES (?)');
  const insert = db.prepare(`INSERT INTO session
    (task_id, decision_id, worker_id, title, agent, project, state, inplace, keep_worktree, base_wanted,
     timeout_sec, idle_timeout_sec, parent, created_at, priority, continues, token_budget, auth, race, pool, runner)
    VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const readRows = createRowReader(books);
  const queries = createSessionQueries(storage, readRows);

  function workerFor(name: string | null): number {
    const known = name === null ? undefined : workerNamed.get(name);
    return known?.id ?? Number(addWorker.run(name).lastInsertRowid);
  }

  return {
    ...queries,
    ...createTurns(storage),
    ...createSessionRuns(storage, { clock, books, getSession: queries.get }),
    ...createSessionBranches(storage, clock, readRows),
    ...createLostRuns(storage, clock),
    create(session) {
      const { lastInsertRowid } = insert.run(
        parseId('t', session.taskId),
        parseId('d', session.decisionId),
        workerFor(session.name),
        session.title,
        session.agent,
        session.project,
        session.inplace ? 1 : 0,
        session.keepWorktree ? 1 : 0,
        session.base,
        session.timeoutSec,
        session.idleTimeoutSec,
        session.parent,
        clock.now(),
        session.priority,
        session.continues === null ? null : parseId('s', session.continues),
        session.tokenBudget,
        session.gatewayBypass ? 'bypass' : null,
        session.race,
        session.pool,
        session.runner === null ? null : parseRunnerId(session.runner),
      );
      return queries.get(formatId('s', Number(lastInsertRowid)));
    },
  };
}

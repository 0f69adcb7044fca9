import type Database from 'better-sqlite3';
import { COUNTER_COLUMNS, type UsageCounts } from './counters.ts';
import type { ReadBooks } from './open-books.ts';

/** Calls of one session, of one model at one provider. */
export interface SessionPart extends UsageCounts {
  session_id: number;
  provider: string | null;
  model: string | null;
  /** When the last of them started, Unix ms. */
  last_at: number;
}

/** Reads the calls of sessions. */
export interface SessionCalls {
  /** Lists the calls of sessions. */
  listParts(sessions: readonly number[]): SessionPart[];
  /** Returns the calls of a session, which are kept in memory until it calls again. */
  findParts(sessions: readonly number[]): (session: number) => readonly SessionPart[];
}

/** Sessions whose calls are kept in memory. */
const MOST_KEPT = 20_000;
/** How long after its start a call may be recorded first, in units of its id. */
const LATEST_RECORD = 600_000 * 1000;

const prepareAll = (db: Database.Database) => ({
  parts: db.prepare<[string], SessionPart>(
    `SELECT session_id, provider, model, max(started_at) AS last_at, ${COUNTER_COLUMNS}
     FROM call WHERE session_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3`,
  ),
  version: db.prepare<[], number>('PRAGMA data_version').pluck(),
  newest: db.prepare<[], number | null>('SELECT max(id) FROM call').pluck(),
  since: db
    .prepare<[number], number>('SELECT DISTINCT session_id FROM call WHERE id > ? AND session_id IS NOT NULL')
    .pluck(),
  open: db
    .prepare<[], number>(
      "SELECT DISTINCT session_id FROM call WHERE outcome = 'open' AND session_id IS NOT NULL",
    )
    .pluck(),
});

export function createSessionCalls(readBooks: ReadBooks): SessionCalls {
  const kept = new Map<number, readonly SessionPart[]>();
  let prepared: { db: Database.Database; queries: ReturnType<typeof prepareAll> } | null = null;
  let version = -1;
  let newest = 0;
  /** Sessions that had a call in progress. */
  let calling: readonly number[] = [];

  function prepareOnce(db: Database.Database): ReturnType<typeof prepareAll> {
    if (prepared?.db !== db) prepared = { db, queries: prepareAll(db) };
    return prepared.queries;
  }

  const listParts = (sessions: readonly number[]): SessionPart[] =>
    readBooks((db) => prepareOnce(db).parts.all(JSON.stringify(sessions)), []);

  /** Forgets the sessions that have called since; nothing else can have changed. */
  const forgetChanged = (): void =>
    readBooks((db) => {
      const queries = prepareOnce(db);
      const now = queries.version.get() ?? -1;
      if (now === version) return;
      version = now;
      for (const id of [...calling, ...queries.since.all(newest - LATEST_RECORD)]) kept.delete(id);
      newest = queries.newest.get() ?? 0;
      calling = queries.open.all();
    }, undefined);

  return {
    listParts,
    findParts(sessions) {
      forgetChanged();
      const unknown = sessions.filter((id) => !kept.has(id));
      if (unknown.length > 0) {
        if (kept.size + unknown.length > MOST_KEPT) kept.clear();
        const wanted = kept.size === 0 ? sessions : unknown;
        const parts = Map.groupBy(listParts(wanted), (part) => part.session_id);
        for (const id of wanted) kept.set(id, parts.get(id) ?? []);
      }
      return (id) => kept.get(id) ?? [];
    },
  };
}

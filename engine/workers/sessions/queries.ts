import { SvcError } from '../../core/base/errors.ts';
import { asWorkerSession, findByPrefix, formatId, formatIdArray, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Storage } from '../../storage/index.ts';
import type { SessionFilter } from './records.ts';
import { type ReadRows, SELECT_SESSIONS, type Session, type SessionRow, type SessionState } from './rows.ts';
import { formatRunnerId } from './site.ts';

/** Finds worker sessions, and counts them. */
export interface SessionQueries {
  get(sessionId: string): Session;
  /** Finds a session by its id, a unique prefix, or the id of its task. Throws `not_found`, `conflict`. */
  resolve(prefix: string): Session;
  /** Reports whether the id belongs to a worker session. */
  isKnown(sessionId: string): boolean;
  /**
   * Newest first, without `ids` live ones and those of one state in the order of their turn; at most `limit` (100, or
   * as many as there are `ids`). Unknown `ids` are left out.
   */
  list(filter: SessionFilter): Session[];
  /** Lists sessions that have not ended, oldest first. */
  listLive(): Session[];
  ofTask(taskId: string): Session[];
  /** Lists the sessions of a race, in the order of its agents. */
  ofRace(race: number): Session[];
  /** Finds the newest session that has the branch. */
  byBranch(branch: string): Session | null;
  /** Finds the live session that continues an ended one; null for none. */
  findSuccessor(sessionId: string): Session | null;
  byRunId(runId: string): Session | null;
  /** Finds a worker's newest session, by its given name or `w-3`; null for an unknown worker. */
  newestOfWorker(workerId: string): Session | null;
  /** Counts by state: `queued` wait for a free slot, `paused` for a time. */
  counts(): { queued: number; paused: number; running: number };
  /** Counts the sessions that work on each other machine, by its id. */
  countByRunner(): Map<string, number>;
  /** Reports whether no other session works. */
  isOnlyWorker(sessionId: string): boolean;
  /** Reports whether no other live session works in a project's folder itself. */
  isOnlyInplace(sessionId: string): boolean;
  /** Counts all sessions ever created, or the live ones. */
  count(only: { live?: boolean | undefined }): number;
}

export function createSessionQueries({ db }: Pick<Storage, 'db'>, readRows: ReadRows): SessionQueries {
  const readRow = (row: SessionRow): Session => readRows([row])[0] as Session;
  const byId = db.prepare<unknown[], SessionRow>(`${SELECT_SESSIONS} WHERE s.id = +?`);
  const byPrefix = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE CAST(s.id AS TEXT) LIKE +? LIMIT 2`,
  );
  const byRun = db.prepare<unknown[], SessionRow>(`${SELECT_SESSIONS} WHERE s.run_id = +?`);
  const newestOf = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE w.name = +? OR (w.name IS NULL AND w.id = +?) ORDER BY s.id DESC LIMIT 1`,
  );
  const newest = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.id < +? ORDER BY s.id DESC LIMIT +?`,
  );
  const ofState = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.state = +? ORDER BY s.id LIMIT +?`,
  );
  const live = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.state <> 'ended' AND +s.id > ? ORDER BY s.id LIMIT +?`,
  );
  const among = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.id IN (SELECT value FROM json_each(?)) AND s.state = coalesce(?, s.state)
     AND (? = 0 OR s.state <> 'ended') ORDER BY s.id DESC LIMIT +?`,
  );
  const ofTaskId = db.prepare<unknown[], SessionRow>(`${SELECT_SESSIONS} WHERE s.task_id = +? ORDER BY s.id`);
  const taskById = db.prepare<unknown[], { session_id: number | null; race: number | null }>(
    'SELECT session_id, race FROM task WHERE id = ?',
  );
  const inRace = db.prepare<unknown[], SessionRow>(`${SELECT_SESSIONS} WHERE s.race = ? ORDER BY s.id`);
  const branched = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.branch = +? ORDER BY s.id DESC LIMIT 1`,
  );
  const succeeding = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.state <> 'ended' AND s.continues = +? LIMIT 1`,
  );
  const byRunner = db.prepare<unknown[], { runner: number; n: number }>(
    `SELECT runner, count(*) AS n FROM session WHERE state IN ('starting', 'running') AND runner IS NOT NULL GROUP BY 1`,
  );
  const all = db.prepare<unknown[], { n: number }>('SELECT count(*) AS n FROM session');
  const count = db.prepare<unknown[], { state: SessionState; is_paused: number; n: number }>(
    `SELECT state, resume_at IS NOT NULL AS is_paused, count(*) AS n FROM session WHERE state <> 'ended' GROUP BY 1, 2`,
  );

  function getSession(sessionId: string): Session {
    const row = byId.get(parseId('s', sessionId));
    if (!row) throw new SvcError('not_found', `no session ${sessionId}`);
    return readRow(row);
  }

  /** Finds the session that works, or has worked last, on a task. */
  function findOfTask(task: number): SessionRow {
    const taskId = formatId('t', task);
    const row = taskById.get(task);
    if (row === undefined)
      throw new SvcError('not_found', `no task ${taskId}`, { hint: sentence`{task.list} lists them` });
    if (row.race !== null)
      throw new SvcError('conflict', `${taskId} has several workers in a race`, {
        hint: sentence`{task.compare ${taskId}} lists them`,
      });
    const last = row.session_id === null ? ofTaskId.all(task).at(-1) : byId.get(row.session_id);
    if (last !== undefined) return last;
    throw new SvcError('not_found', `${taskId} has no session yet`, {
      hint: sentence`{task.run ${taskId}} starts one`,
    });
  }

  const otherWorker = db.prepare(
    `SELECT 1 FROM session WHERE state <> 'ended' AND state <> 'queued' AND id <> ? LIMIT 1`,
  );
  const otherInplace = db.prepare(
    `SELECT 1 FROM session WHERE state <> 'ended' AND inplace = 1 AND id <> ? LIMIT 1`,
  );

  function countByState(): { queued: number; paused: number; running: number } {
    const found = { queued: 0, paused: 0, running: 0 };
    for (const { state, is_paused, n } of count.all()) {
      if (state === 'queued') found[is_paused === 1 ? 'paused' : 'queued'] += n;
      else found.running += n;
    }
    return found;
  }

  return {
    get: getSession,
    resolve: (prefix) =>
      readRow(
        findByPrefix('s', prefix, {
          exact: (id) => byId.get(id),
          like: (pattern) => byPrefix.all(pattern),
          ofTask: findOfTask,
        }),
      ),
    isKnown: (sessionId) =>
      asWorkerSession(sessionId) !== null && byId.get(parseId('s', sessionId)) !== undefined,
    list({ state, live: onlyLive = false, ids, cursor, limit = ids?.length ?? 100 }) {
      if (ids !== undefined) {
        return readRows(among.all(formatIdArray('s', ids), state ?? null, onlyLive ? 1 : 0, limit));
      }
      if (state !== undefined) return readRows(ofState.all(state, limit));
      const from = cursor === undefined ? null : parseId('s', cursor);
      return readRows(
        onlyLive ? live.all(from ?? 0, limit) : newest.all(from ?? Number.MAX_SAFE_INTEGER, limit),
      );
    },
    // In SQLite a negative LIMIT means no limit.
    listLive: () => readRows(live.all(0, -1)),
    ofTask: (taskId) => readRows(ofTaskId.all(parseId('t', taskId))),
    ofRace: (race) => readRows(inRace.all(race)),
    byBranch(branch) {
      const row = branched.get(branch);
      return row ? readRow(row) : null;
    },
    findSuccessor(sessionId) {
      const row = succeeding.get(parseId('s', sessionId));
      return row ? readRow(row) : null;
    },
    byRunId(runId) {
      const row = byRun.get(runId);
      return row ? readRow(row) : null;
    },
    newestOfWorker(workerId) {
      const counted = /^w-([1-9]\d{0,14})$/.exec(workerId);
      const row = newestOf.get(workerId, counted ? Number(counted[1]) : 0);
      return row ? readRow(row) : null;
    },
    countByRunner: () => new Map(byRunner.all().map(({ runner, n }) => [formatRunnerId(runner), n])),
    counts: countByState,
    isOnlyWorker: (sessionId) => otherWorker.get(parseId('s', sessionId)) === undefined,
    isOnlyInplace: (sessionId) => otherInplace.get(parseId('s', sessionId)) === undefined,
    count({ live: onlyLive = false }) {
      const { queued, paused, running } = countByState();
      return onlyLive ? queued + paused + running : (all.get()?.n ?? 0);
    },
  };
}

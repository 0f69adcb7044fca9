import type { Clock } from '../../core/base/clock.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { Session } from './rows.ts';
import { findPlacement, formatRunnerId, parseRunnerId, type SessionPlacement } from './site.ts';

/** A run that was given up with its machine, which may still work on it, or have its folders. */
export interface LostRun {
  sessionId: string;
  runId: string;
  /** The number of the run in its session. */
  number: number;
  runner: string;
  profile: string | null;
  /** Null for a run that was never placed. */
  placement: SessionPlacement | null;
}

/** Runs that were given up with their machine. Methods that change them are called inside `storage.write`. */
export interface LostRuns {
  /** Records the last run of a session as given up, so that its machine is cleaned up once it is back. */
  recordLostRun(session: Session): void;
  /**
   * → queued without a place, for a run on another machine that starts from its branch; until `resumeAt`, Unix ms, if
   * it pauses. False if it has ended.
   */
  leaveMachine(sessionId: string, why: { code: string; text: string; resumeAt: number | null }): boolean;
  /** Lists the lost runs of a machine that it has not been cleaned of, oldest first. */
  listUnsettled(runner: string): LostRun[];
  /** Records that a machine was cleaned of a lost run. */
  settleLostRun(runId: string): void;
  /** Records that a machine will never be cleaned. */
  settleAllOf(runner: string): void;
  /** Counts the runs of a session that were given up. */
  countLostRuns(sessionId: string): number;
  /** Lists the machines that have not been cleaned of a run of a session, which they must not get again before. */
  listHolders(sessionId: string): string[];
}

interface LostRunRow {
  run_id: string;
  session_id: number;
  number: number;
  runner: number;
  profile: string | null;
  placement: string | null;
}

const readRow = (row: LostRunRow): LostRun => ({
  sessionId: formatId('s', row.session_id),
  runId: row.run_id,
  number: row.number,
  runner: formatRunnerId(row.runner),
  profile: row.profile,
  placement: row.placement === null ? null : (JSON.parse(row.placement) as SessionPlacement),
});

export function createLostRuns({ db }: Pick<Storage, 'db'>, clock: Clock): LostRuns {
  const insert = db.prepare(
    `INSERT INTO lost_run (run_id, session_id, number, runner, profile, placement, lost_at)
     SELECT run_id, id, runs, runner, profile, ?, ? FROM session
     WHERE id = ? AND run_id IS NOT NULL AND runner IS NOT NULL ON CONFLICT DO NOTHING`,
  );
  const toLeft = db.prepare(
    `UPDATE session SET state = 'queued', resume_at = @resumeAt, pause_code = @code, pause_text = @text,
     worktree = NULL, cwd = NULL, port = NULL, runner = NULL, run_id = NULL, pid = NULL, pid_start = NULL,
     containment = NULL, agent_session = NULL, own_word = NULL, idle_pauses = 0 WHERE id = @id AND state <> 'ended'`,
  );
  const unsettled = db.prepare<unknown[], LostRunRow>(
    'SELECT * FROM lost_run WHERE runner = ? AND settled_at IS NULL ORDER BY lost_at, run_id',
  );
  const settle = db.prepare('UPDATE lost_run SET settled_at = ? WHERE run_id = ?');
  const settleAll = db.prepare('UPDATE lost_run SET settled_at = ? WHERE runner = ? AND settled_at IS NULL');
  const count = db.prepare<unknown[], { n: number }>(
    'SELECT count(*) AS n FROM lost_run WHERE session_id = ?',
  );
  const holders = db.prepare<unknown[], { runner: number }>(
    'SELECT DISTINCT runner FROM lost_run WHERE session_id = ? AND settled_at IS NULL',
  );

  return {
    recordLostRun(session) {
      const placement = findPlacement(session);
      const written = placement === null ? null : JSON.stringify(placement);
      insert.run(written, clock.now(), parseId('s', session.sessionId));
    },
    leaveMachine: (sessionId, why) => toLeft.run({ ...why, id: parseId('s', sessionId) }).changes === 1,
    listUnsettled: (runner) => unsettled.all(parseRunnerId(runner)).map(readRow),
    settleLostRun: (runId) => void settle.run(clock.now(), runId),
    settleAllOf: (runner) => void settleAll.run(clock.now(), parseRunnerId(runner)),
    countLostRuns: (sessionId) => count.get(parseId('s', sessionId))?.n ?? 0,
    listHolders: (sessionId) =>
      holders.all(parseId('s', sessionId)).map(({ runner }) => formatRunnerId(runner)),
  };
}

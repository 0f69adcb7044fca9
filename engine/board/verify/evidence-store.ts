import type { Clock } from '../../core/base/clock.ts';
import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import { type Evidence, NOBODY, toEvidence, type VerificationRow } from './rows.ts';
import type { BranchHead } from './state.ts';

export type VerificationClaims = Pick<
  Evidence,
  'sessionId' | 'taskId' | 'summary' | 'criteria' | 'tests' | 'symbols'
> & {
  reportedBy: string;
};

/** Number of reports kept for each session; the newest counts. */
const KEPT = 10;

/** Stores the claims of sessions. */
export function createEvidenceStore({
  storage: { db },
  clock,
}: {
  storage: Pick<Storage, 'db'>;
  clock: Pick<Clock, 'now'>;
}) {
  const newest = db.prepare<unknown[], VerificationRow>(
    'SELECT * FROM verification WHERE session_id = ? ORDER BY id DESC LIMIT 1',
  );
  const insert = db.prepare(`INSERT INTO verification
    (session_id, task_id, head_commit, summary, criteria, tests, symbols, reported_at, reported_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const forget = db.prepare(`DELETE FROM verification WHERE session_id = @session AND id NOT IN
    (SELECT id FROM verification WHERE session_id = @session ORDER BY id DESC LIMIT ${KEPT})`);
  const move = db.prepare(`UPDATE verification SET head_commit = ? WHERE id =
    (SELECT max(id) FROM verification WHERE session_id = ?)`);
  const clearDue = db.prepare('UPDATE verification SET rerun_due = NULL WHERE session_id = ?');

  function findEvidence(sessionId: string): Evidence | null {
    const row = newest.get(sessionId);
    return row === undefined ? null : toEvidence(row);
  }

  const parseTaskNumber = (taskId: string | null): number | null =>
    taskId === null ? null : parseId('t', taskId);

  function insertClaims(claims: VerificationClaims, head: BranchHead): void {
    const { sessionId, taskId, summary, criteria, tests, symbols, reportedBy } = claims;
    insert.run(
      sessionId,
      parseTaskNumber(taskId),
      head ?? null,
      summary,
      JSON.stringify(criteria),
      JSON.stringify(tests),
      JSON.stringify(symbols),
      clock.now(),
      reportedBy,
    );
    forget.run({ session: sessionId });
    // A superseded report needs no rerun.
    clearDue.run(sessionId);
  }

  /** Moves the newest report to the commit that the engine has made of the files that it was about. */
  const moveClaims = (sessionId: string, head: string | null): void => void move.run(head, sessionId);

  function reportNothing({ sessionId, taskId }: Session, head: BranchHead): Evidence {
    const nothing = { summary: null, criteria: [], tests: [], symbols: [], reportedBy: NOBODY };
    insertClaims({ sessionId, taskId, ...nothing }, head);
    return findEvidence(sessionId)!;
  }

  return { findEvidence, insertClaims, moveClaims, reportNothing };
}

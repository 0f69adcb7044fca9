import { formatId, parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { Session } from './rows.ts';
import { formatRunnerId } from './site.ts';

/** A session that may start as soon as a slot is free. */
export interface ReadySession {
  sessionId: string;
  agent: string;
  project: string | null;
  priority: number;
  /** The pool of machines that it may run on; null for this machine. */
  pool: string | null;
  /** The id of the machine that has its worktree, or that it has to run on; null for any of the pool. */
  runner: string | null;
  /** True if its work so far is here too, so that it may continue on another machine of the pool. */
  mayMove: boolean;
  /** The guard profile of its last run; null before its first. */
  profile: string | null;
}

/** The queue of waiting sessions. Methods that change it are called inside `storage.write`. */
export interface SessionTurns {
  /** → queued until `resumeAt` (Unix ms), keeping its worktree. False if it is not running or is being stopped. */
  pause(
    sessionId: string,
    why: { resumeAt: number; code: string; text: string; idlePauses: number },
  ): boolean;
  /** Changes why a session is paused: its agent reads it when it resumes. */
  explainPause(sessionId: string, text: string): void;
  /** Changes when a paused session resumes, Unix ms. False if it is not paused. */
  resumeAt(sessionId: string, at: number): boolean;
  /**
   * Lists sessions that may start at `now`, oldest first; paused ones once their time has come, and new ones once the
   * predecessors of their task are finished.
   * @param onlyElsewhere leaves out those of this machine
   */
  ready(now: number, options?: { onlyElsewhere: boolean }): ReadySession[];
  /** Reports whether a session that waits may continue on another machine of its pool; see `ReadySession`. */
  mayMove(session: Pick<Session, 'cwd' | 'continues'>): boolean;
  /** Records the process of a person who is in the session; null once they have left. */
  attach(sessionId: string, process: { pid: number; pidStart: string } | null): void;
  /** Lists sessions that a person entered, whether or not that process is still alive. */
  attached(): { sessionId: string; pid: number; pidStart: string }[];
  /** Returns when the next session paused at `now` resumes, Unix ms. */
  nextResume(now: number): number | null;
}

export function createTurns({ db }: Pick<Storage, 'db'>): SessionTurns {
  const waiting = db.prepare<
    unknown[],
    Omit<ReadySession, 'sessionId' | 'runner' | 'mayMove'> & {
      id: number;
      runner: number | null;
      cwd: string | null;
      continues: number | null;
    }
  >(
    `SELECT id, agent, project, priority, pool, runner, profile, cwd, continues FROM session
     WHERE state = 'queued' AND stop_reason IS NULL AND coalesce(resume_at, 0) <= +? AND (pool IS NOT NULL OR +? = 0)
     AND (runs > 0 OR NOT EXISTS (SELECT 1 FROM unfinished_predecessor u WHERE u.task_id = session.task_id))
     ORDER BY id`,
  );
  const commitsOf = db.prepare<unknown[], { commits: number | null }>(
    'SELECT commits FROM session WHERE id = ?',
  );
  const earliest = db.prepare<unknown[], { at: number | null }>(
    'SELECT min(resume_at) AS at FROM session WHERE resume_at > +?',
  );
  const toPaused =
    db.prepare(`UPDATE session SET state = 'queued', resume_at = ?, pause_code = ?, pause_text = ?,
    idle_pauses = ?, pid = NULL, pid_start = NULL, stop_reason = NULL, stop_actor = NULL
    WHERE id = ? AND state IN ('starting', 'running') AND (stop_reason IS NULL OR stop_reason = 'unanswered')`);
  const setPauseText = db.prepare("UPDATE session SET pause_text = ? WHERE id = ? AND state = 'queued'");
  const setAttached = db.prepare('UPDATE session SET attach_pid = ?, attach_start = ? WHERE id = ?');
  const entered = db.prepare<unknown[], { id: number; attach_pid: number; attach_start: string }>(
    'SELECT id, attach_pid, attach_start FROM session WHERE attach_pid IS NOT NULL',
  );
  const setResumeAt = db.prepare(
    `UPDATE session SET resume_at = ? WHERE id = ? AND state = 'queued' AND resume_at IS NOT NULL`,
  );

  /** A paused session was taken over from its machine, and so was an ended one whose commits were counted. */
  const mayMove = (isPlaced: boolean, continues: number | null): boolean =>
    isPlaced || (continues !== null && (commitsOf.get(continues)?.commits ?? null) !== null);

  return {
    mayMove: ({ cwd, continues }) =>
      mayMove(cwd !== null, continues === null ? null : parseId('s', continues)),
    pause: (sessionId, { resumeAt, code, text, idlePauses }) =>
      toPaused.run(resumeAt, code, text, idlePauses, parseId('s', sessionId)).changes === 1,
    explainPause: (sessionId, text) => void setPauseText.run(text, parseId('s', sessionId)),
    resumeAt: (sessionId, at) => setResumeAt.run(at, parseId('s', sessionId)).changes === 1,
    ready: (now, { onlyElsewhere } = { onlyElsewhere: false }) =>
      waiting.all(now, onlyElsewhere ? 1 : 0).map(({ id, runner, cwd, continues, ...rest }) => ({
        sessionId: formatId('s', id),
        runner: runner === null ? null : formatRunnerId(runner),
        mayMove: mayMove(cwd !== null, continues),
        ...rest,
      })),
    attach(sessionId, process) {
      setAttached.run(process?.pid ?? null, process?.pidStart ?? null, parseId('s', sessionId));
    },
    attached: () =>
      entered.all().map(({ id, attach_pid, attach_start }) => ({
        sessionId: formatId('s', id),
        pid: attach_pid,
        pidStart: attach_start,
      })),
    nextResume: (now) => earliest.get(now)?.at ?? null,
  };
}

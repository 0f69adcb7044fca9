import type { Clock } from '../../core/base/clock.ts';
import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { TaskFinder } from './find.ts';
import type { TaskStatus } from './rows.ts';
import { taskStateError } from './state-errors.ts';

export interface TaskEnd {
  status: 'done' | 'failed';
  exitCode?: number | null;
  failure?: { code: string; text: string } | null;
  summary?: string | null;
}

/** Moves tasks through the states of their runs and races. Compare-and-set, called inside `storage.write`. */
export interface TaskSteps {
  /** Records that a session is queued for the task. Throws `conflict`. */
  queue(taskId: string, sessionId: string): void;
  /** assigned → running: the session's process was started. */
  start(taskId: string, sessionId: string): void;
  /** running → assigned: its session pauses until then, Unix ms. A paused one may get another time. */
  pause(taskId: string, sessionId: string, resumeAt: number): void;
  /** Back to assigned, without its session, which never ran or must not continue. False if it has another session. */
  release(taskId: string, sessionId: string): boolean;
  /** Records that a race is open on the task, which assigns an open one. Throws `conflict`. */
  beginRace(taskId: string, race: number): void;
  /** assigned → running: a process of the race was started. */
  startRace(taskId: string, race: number): void;
  /** The race is over, and the task belongs to the winner, or to none. */
  leaveRace(taskId: string, race: number, winner: string | null): void;
  /** done → running: the promotion of the winner was undone. False if the task has changed since. */
  reopenRace(taskId: string, race: number, winner: string): boolean;
  /** From a status in `from` to done or failed; false if the task had another one. */
  end(taskId: string, from: readonly TaskStatus[], end: TaskEnd): boolean;
}

export function createTaskSteps(
  { db }: Pick<Storage, 'db'>,
  clock: Pick<Clock, 'now'>,
  getTask: TaskFinder['get'],
): TaskSteps {
  const queueFor = db.prepare(
    `UPDATE task SET session_id = ?, archived_at = NULL WHERE id = ? AND status = 'assigned' AND session_id IS NULL AND race IS NULL`,
  );
  const startOf = db.prepare(
    `UPDATE task SET status = 'running', resume_at = NULL, started_at = coalesce(started_at, ?) WHERE id = ? AND status = 'assigned' AND session_id = ?`,
  );
  const pauseOf = db.prepare(
    `UPDATE task SET status = 'assigned', resume_at = ?
     WHERE id = ? AND status IN ('assigned', 'running') AND session_id = ?`,
  );
  const releaseOf = db.prepare(
    `UPDATE task SET status = 'assigned', session_id = NULL, resume_at = NULL
     WHERE id = ? AND status IN ('assigned', 'running') AND session_id = ?`,
  );
  const endOf =
    db.prepare(`UPDATE task SET status = ?, resume_at = NULL, ended_at = ?, exit_code = ?, failure_code = ?, failure_text = ?,
    summary = coalesce(?, summary) WHERE id = ? AND status IN (SELECT value FROM json_each(?))`);
  const beginRaceOf =
    db.prepare(`UPDATE task SET race = ?, status = 'assigned', assigned_at = coalesce(assigned_at, ?), archived_at = NULL
    WHERE id = ? AND status IN ('open', 'assigned') AND session_id IS NULL AND race IS NULL`);
  const startRaceOf = db.prepare(
    `UPDATE task SET status = 'running', started_at = coalesce(started_at, ?) WHERE id = ? AND status = 'assigned' AND race = ?`,
  );
  const leaveRaceOf = db.prepare('UPDATE task SET race = NULL, session_id = ? WHERE id = ? AND race = ?');
  const reopenRaceOf =
    db.prepare(`UPDATE task SET race = ?, session_id = NULL, status = 'running', archived_at = NULL, ended_at = NULL,
    exit_code = NULL, failure_code = NULL, failure_text = NULL
    WHERE id = ? AND race IS NULL AND status = 'done' AND session_id = ?`);

  return {
    queue(taskId, sessionId) {
      if (queueFor.run(parseId('s', sessionId), parseId('t', taskId)).changes === 0)
        throw taskStateError(getTask(taskId), 'dispatched');
    },
    start(taskId, sessionId) {
      startOf.run(clock.now(), parseId('t', taskId), parseId('s', sessionId));
    },
    pause(taskId, sessionId, resumeAt) {
      pauseOf.run(resumeAt, parseId('t', taskId), parseId('s', sessionId));
    },
    release: (taskId, sessionId) =>
      releaseOf.run(parseId('t', taskId), parseId('s', sessionId)).changes === 1,
    beginRace(taskId, race) {
      if (beginRaceOf.run(race, clock.now(), parseId('t', taskId)).changes === 0)
        throw taskStateError(getTask(taskId), 'raced');
    },
    startRace(taskId, race) {
      startRaceOf.run(clock.now(), parseId('t', taskId), race);
    },
    leaveRace(taskId, race, winner) {
      leaveRaceOf.run(winner === null ? null : parseId('s', winner), parseId('t', taskId), race);
    },
    reopenRace: (taskId, race, winner) =>
      reopenRaceOf.run(race, parseId('t', taskId), parseId('s', winner)).changes === 1,
    end(taskId, from, end) {
      const { changes } = endOf.run(
        end.status,
        clock.now(),
        end.exitCode ?? null,
        end.failure?.code ?? null,
        end.failure?.text ?? null,
        end.summary ?? null,
        parseId('t', taskId),
        JSON.stringify(from),
      );
      return changes === 1;
    },
  };
}

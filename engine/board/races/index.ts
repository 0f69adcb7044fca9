import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Session, Sessions } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';
import { createRaceFinder, type Race, type RaceFinder, type RaceRow, toRace } from './find.ts';
import { createRaceSettler } from './settle.ts';

export type { Race, RaceState } from './find.ts';

/**
 * Owns races. While one is open its task belongs to none of its sessions: it is done once one of them is promoted,
 * and failed once all have ended without success. Mutating methods are called inside `storage.write`.
 */
export interface Races extends Omit<RaceFinder, 'findRacer'> {
  /** Throws `conflict` unless the task can be dispatched. */
  begin(taskId: string): Race;
  /** Records the commit that its sessions start from, once; returns the recorded one. */
  fixBase(race: number, commit: string): string;
  /** Called when a session of it runs: so does its task. */
  started(session: Session): void;
  /** Called when a session of it has ended. After the last one, the race waits for a choice, or is lost. */
  sessionEnded(session: Session): void;
  /** Ends an open race without a winner: the task is over for another reason. Returns its live sessions. */
  cancel(race: number, by: CallAuthor): Session[];
  /**
   * Called when one was promoted: the task is done, and the others are due to be discarded unless `keepsOthers`.
   * Returns the live ones. Does nothing for a race that is over.
   */
  win(race: number, winner: string, keepsOthers: boolean, by: CallAuthor): Session[];
  /** Called when the promotion of its winner was undone: a person chooses again. */
  reopen(session: Session, by: CallAuthor): void;
  /** Throws `conflict` if another session of its race was promoted. */
  checkMayWin(session: Session): void;
  /** Settles open races whose sessions have all ended, after a change other than their end. */
  recover(): void;
}

export function createRaces({
  storage: { db },
  events,
  clock,
  tasks,
  sessions,
}: {
  storage: Pick<Storage, 'db'>;
  events: Pick<EventLog, 'append'>;
  clock: Pick<Clock, 'now'>;
  tasks: Tasks;
  sessions: Sessions;
}): Races {
  const { findRacer, ...finder } = createRaceFinder({ db }, sessions);
  const getRace = finder.get;
  const { recordChange, endRace, settle } = createRaceSettler({ db, events, clock, tasks, sessions });
  const open = db.prepare<unknown[], RaceRow>("SELECT * FROM race WHERE state = 'open' ORDER BY +id");
  const insert = db.prepare('INSERT INTO race (task_id, created_at) VALUES (?, ?)');
  const setBase = db.prepare('UPDATE race SET base_commit = ? WHERE id = ? AND base_commit IS NULL');
  const setOpen = db.prepare(
    "UPDATE race SET state = 'open', winner = NULL, ended_at = NULL WHERE id = ? AND state = 'promoted'",
  );

  return {
    ...finder,
    begin(taskId) {
      const race = Number(insert.run(parseId('t', taskId), clock.now()).lastInsertRowid);
      tasks.beginRace(taskId, race);
      return getRace(race);
    },
    fixBase(race, commit) {
      setBase.run(commit, race);
      return getRace(race).baseCommit ?? commit;
    },
    started({ taskId, race }) {
      if (race !== null) tasks.startRace(taskId, race);
    },
    sessionEnded({ race }) {
      if (race !== null) settle(getRace(race));
    },
    cancel(id, by) {
      const race = getRace(id);
      if (!endRace(id, 'cancelled', null)) return [];
      tasks.leaveRace(race.taskId, id, null);
      recordChange(race, 'cancelled', { detail: 'cancelled' }, by);
      return sessions.ofRace(id).filter(({ state }) => state !== 'ended');
    },
    win(id, promoted, keepsOthers, by) {
      const race = getRace(id);
      const winner = findRacer(sessions.get(promoted))?.sessionId ?? promoted;
      if (!endRace(id, 'promoted', winner)) return [];
      tasks.leaveRace(race.taskId, id, winner);
      tasks.end(race.taskId, ['assigned', 'running'], { status: 'done' });
      const others = sessions.ofRace(id).filter(({ sessionId }) => sessionId !== winner);
      if (!keepsOthers) for (const { sessionId } of others) sessions.setDiscardDue(sessionId, true);
      const names = others.map(({ sessionId }) => sessionId).join(', ');
      const detail = `${winner} was promoted; ${keepsOthers ? 'kept' : 'discarded'}: ${names}`;
      recordChange(race, 'promoted', { detail, session: promoted }, by);
      return others.filter(({ state }) => state !== 'ended');
    },
    reopen(session, by) {
      const racer = findRacer(session);
      const race = racer === null ? null : getRace(racer.race as number);
      if (racer === null || race?.winner !== racer.sessionId) return;
      if (!tasks.reopenRace(race.taskId, race.id, racer.sessionId)) return;
      setOpen.run(race.id);
      for (const { sessionId } of sessions.ofRace(race.id)) sessions.setDiscardDue(sessionId, false);
      const detail = `waits for a choice again: the promotion of ${racer.sessionId} was undone`;
      recordChange(race, 'reopened', { detail }, by);
    },
    checkMayWin(session) {
      const racer = findRacer(session);
      const race = racer === null ? null : getRace(racer.race as number);
      if (race?.state !== 'promoted' || race.winner === racer?.sessionId) return;
      throw new SvcError('conflict', `${race.winner} of the same race was promoted for ${race.taskId}`, {
        hint: sentence`{worktree.undo ${race.winner}} undoes it; then choose again`,
        data: { task_id: race.taskId, winner: race.winner },
      });
    },
    recover() {
      for (const row of open.all()) settle(toRace(row));
    },
  };
}

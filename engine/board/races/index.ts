import type { CallAuthor } from '../../core/api/operation.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatId, formatIdOrNull, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Session, Sessions } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';

export type RaceState = 'open' | 'promoted' | 'lost' | 'cancelled';

/** Several sessions of one task, created from the same commit, one of which is promoted. Times are RFC 3339 UTC. */
export interface Race {
  id: number;
  taskId: string;
  state: RaceState;
  /** The commit that all of them start from; null until the first one starts. */
  baseCommit: string | null;
  /** The session that was promoted. */
  winner: string | null;
  createdAt: string;
  endedAt: string | null;
}

/**
 * Owns races. While one is open its task belongs to none of its sessions: it is done once one of them is promoted,
 * and failed once all have ended without success. Mutating methods are called inside `storage.write`.
 */
export interface Races {
  get(race: number): Race;
  /** Finds the newest race of a task; null for none. */
  ofTask(taskId: string): Race | null;
  /** The first of its sessions. */
  firstOf(race: number): Session;
  /** Finds the race of a session, or of the one that it continues; null for none. */
  ofSession(session: Session): Race | null;
  /**
   * Lists the other live sessions of a session's open race, which it is in directly or by continuing one. Their
   * worktrees compete, and one is promoted. None for other ids, or after the race.
   */
  rivalsOf(sessionId: string): string[];
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

interface RaceRow {
  id: number;
  task_id: number;
  state: RaceState;
  base_commit: string | null;
  winner: number | null;
  created_at: number;
  ended_at: number | null;
}

const toRace = (row: RaceRow): Race => ({
  id: row.id,
  taskId: formatId('t', row.task_id),
  state: row.state,
  baseCommit: row.base_commit,
  winner: formatIdOrNull('s', row.winner),
  createdAt: rfc3339(row.created_at),
  endedAt: row.ended_at === null ? null : rfc3339(row.ended_at),
});

const BY_ENGINE: CallAuthor = { actor: 'svc', via: 'engine' };
/** More generations of follow-ups than anyone creates. */
const MOST_GENERATIONS = 1000;

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
  const byId = db.prepare<unknown[], RaceRow>('SELECT * FROM race WHERE id = ?');
  const newestOf = db.prepare<unknown[], RaceRow>(
    'SELECT * FROM race WHERE task_id = ? ORDER BY +id DESC LIMIT 1',
  );
  const open = db.prepare<unknown[], RaceRow>("SELECT * FROM race WHERE state = 'open' ORDER BY +id");
  const insert = db.prepare('INSERT INTO race (task_id, created_at) VALUES (?, ?)');
  const setBase = db.prepare('UPDATE race SET base_commit = ? WHERE id = ? AND base_commit IS NULL');
  const setEnd = db.prepare(
    "UPDATE race SET state = ?, winner = ?, ended_at = ? WHERE id = ? AND state = 'open'",
  );
  const setOpen = db.prepare(
    "UPDATE race SET state = 'open', winner = NULL, ended_at = NULL WHERE id = ? AND state = 'promoted'",
  );

  function getRace(race: number): Race {
    const row = byId.get(race);
    if (row === undefined) throw new SvcError('not_found', 'there is no such race');
    return toRace(row);
  }

  /** Finds the session of the race whose work this one has: itself, or the one that it continues. */
  function findRacer(session: Session): Session | null {
    let at: Session | null = session;
    for (let step = 0; at !== null && at.race === null && step < MOST_GENERATIONS; step++)
      at = at.continues !== null && sessions.isKnown(at.continues) ? sessions.get(at.continues) : null;
    return at?.race == null ? null : at;
  }

  const findRaceOf = (session: Session): Race | null => {
    const racer = findRacer(session);
    return racer === null ? null : getRace(racer.race as number);
  };

  function recordChange(
    { id, taskId }: Race,
    state: string,
    data: Record<string, unknown>,
    by: CallAuthor,
  ): void {
    const { title } = tasks.get(taskId);
    events.append({ kind: 'race_changed', taskId, ...by, data: { title, state, race: id, ...data } });
  }

  /** Ends an open race; false if it is over. */
  const endRace = (race: number, state: Exclude<RaceState, 'open'>, winner: string | null): boolean =>
    setEnd.run(state, winner === null ? null : parseId('s', winner), clock.now(), race).changes === 1;

  function settle(race: Race): void {
    const racers = sessions.ofRace(race.id);
    if (race.state !== 'open' || racers.some(({ state }) => state !== 'ended')) return;
    const ready = racers.filter(({ failure }) => failure === null);
    if (ready.length > 0) {
      const detail = `waits for a choice: ${ready.length} of ${racers.length} succeeded`;
      recordChange(race, 'ready', { detail }, BY_ENGINE);
      return;
    }
    endRace(race.id, 'lost', null);
    tasks.leaveRace(race.taskId, race.id, null);
    const ends = racers.map(({ sessionId, agent, failure }) => `${sessionId} ${agent} ${failure?.code}`);
    const failure = { code: 'race_lost', text: `no session of its race succeeded: ${ends.join(', ')}` };
    tasks.end(race.taskId, ['assigned', 'running'], { status: 'failed', failure });
    recordChange(race, 'lost', { reason: failure.text }, BY_ENGINE);
  }

  return {
    get: getRace,
    ofTask(taskId) {
      const row = newestOf.get(parseId('t', taskId));
      return row === undefined ? null : toRace(row);
    },
    firstOf: (race) => sessions.ofRace(race)[0] as Session,
    ofSession: findRaceOf,
    rivalsOf(sessionId) {
      const race = sessions.isKnown(sessionId) ? findRaceOf(sessions.get(sessionId)) : null;
      if (race?.state !== 'open') return [];
      return sessions
        .listLive()
        .filter((each) => each.sessionId !== sessionId && findRaceOf(each)?.id === race.id)
        .map((each) => each.sessionId);
    },
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

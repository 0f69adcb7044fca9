import { rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatId, formatIdOrNull, parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { Session, Sessions } from '../../workers/sessions/index.ts';

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

export interface RaceRow {
  id: number;
  task_id: number;
  state: RaceState;
  base_commit: string | null;
  winner: number | null;
  created_at: number;
  ended_at: number | null;
}

export const toRace = (row: RaceRow): Race => ({
  id: row.id,
  taskId: formatId('t', row.task_id),
  state: row.state,
  baseCommit: row.base_commit,
  winner: formatIdOrNull('s', row.winner),
  createdAt: rfc3339(row.created_at),
  endedAt: row.ended_at === null ? null : rfc3339(row.ended_at),
});

/** Finds races. */
export interface RaceFinder {
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
  /** Finds the session of a race whose work this one has: itself, or the one that it continues. */
  findRacer(session: Session): Session | null;
}

/** More generations of follow-ups than anyone creates. */
const MOST_GENERATIONS = 1000;

export function createRaceFinder({ db }: Pick<Storage, 'db'>, sessions: Sessions): RaceFinder {
  const byId = db.prepare<unknown[], RaceRow>('SELECT * FROM race WHERE id = ?');
  const newestOf = db.prepare<unknown[], RaceRow>(
    'SELECT * FROM race WHERE task_id = ? ORDER BY +id DESC LIMIT 1',
  );

  function getRace(race: number): Race {
    const row = byId.get(race);
    if (row === undefined) throw new SvcError('not_found', 'there is no such race');
    return toRace(row);
  }

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
    findRacer,
  };
}

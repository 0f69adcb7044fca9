import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { parseId } from '../../core/base/ids.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Sessions } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';
import type { Race, RaceState } from './find.ts';

const BY_ENGINE: CallAuthor = { actor: 'svc', via: 'engine' };

/** Creates the ends of races. */
export function createRaceSettler({
  db,
  events,
  clock,
  tasks,
  sessions,
}: {
  db: Storage['db'];
  events: Pick<EventLog, 'append'>;
  clock: Pick<Clock, 'now'>;
  tasks: Tasks;
  sessions: Sessions;
}) {
  const setEnd = db.prepare(
    "UPDATE race SET state = ?, winner = ?, ended_at = ? WHERE id = ? AND state = 'open'",
  );

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

  return { recordChange, endRace, settle };
}

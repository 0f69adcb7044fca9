import { findDetail } from './details.ts';
import type { State } from './model.ts';
import type { RaceView, SessionFacts } from './rows.ts';

/** A session of a race, with its row of the list if it has one. */
export type RacerRow = SessionFacts & Pick<RaceView['sessions'][number], 'evidence'>;

/** Lists the sessions of a race with what was fetched of each, and the current rows of the list. */
export function findRace(state: State, task: string): { race: RaceView['race']; racers: RacerRow[] } | null {
  const detail = findDetail(state, 'race', task)?.detail;
  if (!detail) return null;
  const racers = detail.sessions.map((each): RacerRow => {
    const row = state.data.sessions.get(each.session_id);
    return { ...each, committed: null, ...row };
  });
  return { race: detail.race, racers };
}

import type { State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import type { ListedStats } from '../state/rows.ts';
import { type StateTransition, transitionTo } from './transition.ts';

/** The groupings of the figures, in the order of the key. */
const STATS_KINDS = ['agent', 'project', 'day'] as const satisfies readonly ListedStats['by'][];

export function showNextStatsKind(state: State): StateTransition {
  const next = STATS_KINDS[rotateIndex(STATS_KINDS.indexOf(state.statsBy), 1, STATS_KINDS.length)]!;
  return transitionTo({ ...state, statsBy: next });
}

import type { State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import type { Stats } from '../state/rows.ts';
import { type Transition, transitionTo } from './transition.ts';

/** The groupings of the figures, in the order of the key. */
const STATS_KINDS = ['agent', 'project', 'day'] as const satisfies readonly Stats['by'][];

export const openStats = (state: State): Transition =>
  transitionTo({ ...state, focus: 'stats', view: 'list' });

export function showNextStatsKind(state: State): Transition {
  const next = STATS_KINDS[rotateIndex(STATS_KINDS.indexOf(state.statsBy), 1, STATS_KINDS.length)]!;
  return transitionTo({ ...state, statsBy: next });
}

import { showNextStatsKind } from '../actions/stats.ts';
import type { KeyBinding } from './binding.ts';

/** Keys of the figures. */
export const STATS_KEYS: readonly KeyBinding[] = [
  {
    id: 'stats-kind',
    group: 'Stats',
    panes: ['stats'],
    view: 'list',
    keys: ['b'],
    label: 'by',
    about: 'group by agent, project or UTC day',
    run: showNextStatsKind,
  },
];

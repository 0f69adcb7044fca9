import * as marks from '../actions/marks.ts';
import type { KeyBinding } from './binding.ts';

const marking = {
  group: 'Mark',
  view: 'list',
  offline: true,
  isHiddenInHints: true,
  disabledReason: marks.checkCanMark,
} as const;

/** Keys that mark rows. Keys that act on a row then act on all marked ones, after one question. */
export const MARK_KEYS: readonly KeyBinding[] = [
  {
    id: 'mark',
    ...marking,
    keys: ['space'],
    label: 'mark',
    about: 'mark or unmark the row; keys that can then ask about all marked rows',
    acts: true,
    run: marks.toggleMark,
  },
  {
    id: 'mark-range',
    ...marking,
    keys: ['-'],
    label: 'mark up to here',
    about: 'mark all rows from the last marked one to the cursor',
    acts: true,
    run: marks.markRange,
  },
  {
    id: 'mark-up',
    ...marking,
    keys: ['shift+up'],
    label: 'mark upwards',
    about: 'mark the row and the one above it',
    run: marks.markOnTheWay(-1),
  },
  {
    id: 'mark-down',
    ...marking,
    keys: ['shift+down'],
    label: 'mark downwards',
    about: 'mark the row and the one below it',
    run: marks.markOnTheWay(1),
  },
  {
    id: 'mark-all',
    ...marking,
    keys: ['*'],
    label: 'mark all',
    about: 'mark all rows shown, or remove all marks',
    run: marks.toggleAllMarks,
  },
];

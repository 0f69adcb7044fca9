import * as sorting from '../actions/sorting.ts';
import type { KeyBinding } from './binding.ts';

const inLists = { group: 'View', view: 'list', offline: true, isHiddenInHints: true } as const;

/** Keys for how lists look. */
export const LIST_KEYS: readonly KeyBinding[] = [
  {
    id: 'zoom',
    aliases: ['maximise'],
    ...inLists,
    keys: ['z'],
    label: 'zoom',
    about: 'show the list on the whole screen; z or Esc ends it',
    run: sorting.toggleZoom,
  },
  {
    id: 'sort-next',
    aliases: ['order'],
    ...inLists,
    keys: ['>'],
    label: 'sort by next',
    about: 'sort by the next column; after the last one, return to the default order',
    run: sorting.sortByNextColumn(1),
  },
  {
    id: 'sort-previous',
    ...inLists,
    keys: ['<'],
    label: 'sort by previous',
    about: 'sort by the previous column',
    run: sorting.sortByNextColumn(-1),
  },
  {
    id: 'sort-reverse',
    ...inLists,
    keys: ['^'],
    label: 'other way',
    about: 'reverse the sort order',
    disabledReason: sorting.checkIsSorted,
    run: sorting.reverseSort,
  },
  {
    id: 'sort-again',
    ...inLists,
    keys: ['='],
    label: 'sort again',
    about: 'sort again by current values; entering a list does this too, and rows do not move otherwise',
    disabledReason: sorting.checkIsSorted,
    run: sorting.sortAgain,
  },
];

import * as sorting from '../actions/sorting.ts';
import type { Binding } from './binding.ts';

const inLists = { group: 'View', view: 'list', offline: true, isHiddenInHints: true } as const;

/** Keys for how lists look. */
export const LIST_KEYS: readonly Binding[] = [
  {
    id: 'zoom',
    ...inLists,
    keys: ['z'],
    label: 'zoom',
    about: 'give the list the whole screen; z or Esc takes it away',
    run: sorting.toggleZoom,
  },
  {
    id: 'sort-next',
    ...inLists,
    keys: ['>'],
    label: 'sort by next',
    about: 'sort by the next column; after the last one the list has its own order again',
    run: sorting.sortByNextColumn(1),
  },
  {
    id: 'sort-previous',
    ...inLists,
    keys: ['<'],
    label: 'sort by previous',
    about: 'sort by the column before',
    run: sorting.sortByNextColumn(-1),
  },
  {
    id: 'sort-reverse',
    ...inLists,
    keys: ['^'],
    label: 'other way',
    about: 'sort the other way round',
    disabledReason: sorting.checkIsSorted,
    run: sorting.reverseSort,
  },
  {
    id: 'sort-again',
    ...inLists,
    keys: ['='],
    label: 'sort again',
    about: 'sort again by what has changed; going to a list does so too, and nothing else moves its rows',
    disabledReason: sorting.checkIsSorted,
    run: sorting.sortAgain,
  },
];

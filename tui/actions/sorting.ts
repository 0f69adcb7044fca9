import { fitColumns, getListCells } from '../frame/fit-columns.ts';
import type { PaneId } from '../pane-ids.ts';
import { getPane } from '../panes/index.ts';
import type { Pane, PaneColumn } from '../panes/pane.ts';
import type { ListSort, State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import { formatSort, sortByValue } from '../state/sorting.ts';
import { replaceList } from './navigation.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

const getTypedPane = (id: PaneId): Pane<object> => getPane(id) as unknown as Pane<object>;

const readValue = (column: PaneColumn<object>, row: object, state: State): number | string | null => {
  if (column.value !== undefined) return column.value(row, state);
  const text = column.text(row, state).trim();
  return text === '' || text === '-' ? null : text;
};

/** Sorts a list by the person's choice. Its rows do not move until this is done again. */
export function sortList(state: State, id: PaneId): State {
  const list = state.lists[id];
  const { sort } = list;
  const pane = getTypedPane(id);
  const column = pane.columns.find((each) => each.head === sort?.column);
  if (sort === null || column === undefined)
    return list.order === null ? state : replaceList(state, id, { ...list, sort: null, order: null });
  const rows = pane.listRows(state.data).map((row) => ({
    id: pane.getRowId(row),
    value: readValue(column, row, state),
  }));
  return replaceList(state, id, { ...list, order: sortByValue(rows, sort) });
}

/** Sorts, and remembers it for the next time. */
const chooseSort = (state: State, sort: ListSort | null): StateTransition => {
  const { focus } = state;
  const sorted = sortList(replaceList(state, focus, { ...state.lists[focus], sort }), focus);
  const told = state.isPlain ? showMessage(sorted, `sorted by ${describeSort(sort)}`) : sorted;
  const value = sort === null ? undefined : formatSort(sort);
  return transitionTo(told, { do: 'save', changes: [{ path: ['sort', focus], value }] });
};

/** Sorts by the next or previous column of the list; after the last one in its default order. */
export const sortByNextColumn =
  (by: -1 | 1) =>
  (state: State): StateTransition => {
    const { focus } = state;
    const columns = fitColumns(getTypedPane(focus), getListCells(state, focus), state.preferences).map(
      ({ column }) => column,
    );
    const at = columns.findIndex(({ head }) => head === state.lists[focus].sort?.column);
    // The default order comes before the first column.
    const next = columns[rotateIndex(at + 1, by, columns.length + 1) - 1];
    const sort = next === undefined ? null : { column: next.head, descending: isMostFirst(next) };
    return chooseSort(state, sort);
  };

/** For amounts and times, the largest come first. */
const isMostFirst = ({ value, align }: PaneColumn<object>): boolean =>
  value !== undefined && align === 'right';

export const checkIsSorted = (state: State): string | null =>
  state.lists[state.focus].sort === null ? 'the list is in its default order; > sorts it by a column' : null;

/** Reverses the sort order. */
export function reverseSort(state: State): StateTransition {
  const { column, descending } = state.lists[state.focus].sort!;
  return chooseSort(state, { column, descending: !descending });
}

/** Sorts again by the current values. */
export const sortAgain = (state: State): StateTransition => transitionTo(sortList(state, state.focus));

/** Describes the sort order for the border of a list. */
export const describeSort = (sort: ListSort | null): string =>
  sort === null ? 'default order' : `${sort.column} ${sort.descending ? '↓' : '↑'}`;

/** Toggles the zoom of the focused pane's list. */
export const toggleZoom = (state: State): StateTransition =>
  transitionTo({ ...state, isZoomed: !state.isZoomed, view: 'list' });

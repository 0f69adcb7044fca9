import type { ListView } from './model.ts';
import { clampNumber } from './numbers.ts';

export const EMPTY_LIST: ListView = {
  filter: '',
  ids: [],
  selected: null,
  index: 0,
  top: 0,
  marks: new Map(),
  anchor: null,
  sort: null,
  order: null,
};

/**
 * Replaces the rows of a list. The selected row stays selected, at the same screen position, even if rows arrive
 * above it. `moved` is true if it is gone and its neighbour is selected instead.
 */
export function replaceRows(list: ListView, ids: readonly string[]): { list: ListView; moved: boolean } {
  if (hasSameIds(list.ids, ids)) return { list, moved: false };
  const kept = list.selected === null ? -1 : ids.indexOf(list.selected);
  if (kept >= 0) {
    return {
      list: { ...list, ids, index: kept, top: Math.max(0, list.top + kept - list.index) },
      moved: false,
    };
  }
  const index = clampNumber(list.index, 0, Math.max(0, ids.length - 1));
  const selected = ids[index] ?? null;
  return { list: { ...list, ids, index, selected }, moved: list.selected !== null && selected !== null };
}

/** Scrolls as little as possible to show the cursor in `height` rows, without empty rows below the last one. */
export function scrollIntoView(list: ListView, height: number): ListView {
  const rows = Math.max(1, height);
  const highest = Math.max(0, list.ids.length - rows);
  const top = clampNumber(clampNumber(list.top, list.index - rows + 1, list.index), 0, highest);
  return top === list.top ? list : { ...list, top };
}

export function moveCursorTo(list: ListView, index: number): ListView {
  const to = clampNumber(index, 0, Math.max(0, list.ids.length - 1));
  return { ...list, index: to, selected: list.ids[to] ?? null };
}

/** Selects a row by id. Returns the same list if the row is not there. */
export function selectRow(list: ListView, id: string): ListView {
  const index = list.ids.indexOf(id);
  return index < 0 ? list : moveCursorTo(list, index);
}

function hasSameIds(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((id, index) => id === other[index]));
}

export const dropMarks = (list: ListView): ListView => ({ ...list, marks: new Map(), anchor: null });

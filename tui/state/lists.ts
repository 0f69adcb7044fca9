import type { ListView } from './model.ts';
import { clampNumber } from './numbers.ts';

export const EMPTY_LIST: ListView = {
  filter: '',
  ids: [],
  sections: [],
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
export function replaceRows(
  before: ListView,
  ids: readonly string[],
  sections: readonly number[] = [],
): { list: ListView; moved: boolean } {
  const list = hasSameItems(before.sections, sections) ? before : { ...before, sections };
  if (hasSameItems(list.ids, ids)) return { list, moved: false };
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

/**
 * Counts the headings among the rows from `from` to `to`: one for each section with rows there, except the first, whose
 * name is in the line of the columns.
 */
function countHeadings(sections: readonly number[], from: number, to: number): number {
  let start = 0;
  let count = 0;
  for (const size of sections) {
    if (size > 0 && start <= to && start + size > from) count += 1;
    start += size;
  }
  return Math.max(0, count - 1);
}

/** Counts the lines of a list below the line of its columns. */
export const countListLines = (sections: readonly number[], rows: number): number =>
  rows + countHeadings(sections, 0, rows - 1);

/** Returns the first visible row, as close to `top` as possible, that shows the row at `index` and leaves no empty lines. */
export function fitTop(
  {
    sections,
    rows,
    index,
    height,
  }: { sections: readonly number[]; rows: number; index: number; height: number },
  top: number,
): number {
  const room = Math.max(1, height);
  const firstThatShows = (row: number): number => {
    let first = Math.max(0, row - room + 1);
    while (first < row && row - first + 1 + countHeadings(sections, first, row) > room) first += 1;
    return first;
  };
  return Math.min(
    clampNumber(top, firstThatShows(index), Math.max(0, index)),
    firstThatShows(Math.max(0, rows - 1)),
  );
}

/** Scrolls as little as possible to show the cursor in `height` lines, without empty lines below the last row. */
export function scrollIntoView(list: ListView, height: number): ListView {
  const { sections, ids, index } = list;
  const top = fitTop({ sections, rows: ids.length, index, height }, list.top);
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

function hasSameItems<T>(one: readonly T[], other: readonly T[]): boolean {
  return one === other || (one.length === other.length && one.every((id, index) => id === other[index]));
}

export const dropMarks = (list: ListView): ListView => ({ ...list, marks: new Map(), anchor: null });

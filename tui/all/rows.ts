import type { ListedRow } from '../frame/list-lines.ts';
import type { CombinedPaneId } from '../pane-ids.ts';
import { clampNumber } from '../state/numbers.ts';
import { type AllState, findMember, type WorkspaceMember } from './state.ts';

// The rows of a combined list are grouped by section, then by workspace, in the order of the members, each in the order
// of its list. Nothing is copied: ten thousand rows are counted, and only the visible ones are read.

/** The rows of one section of one workspace: `size` of its list's rows, starting at `from`. */
interface RowSlice {
  member: WorkspaceMember;
  section: number;
  from: number;
  size: number;
}

function listSlices({ members }: AllState, pane: CombinedPaneId): RowSlice[] {
  const slices = members.flatMap((member) => {
    let from = 0;
    return member.state.lists[pane].sections.map((size, section): RowSlice => {
      const slice = { member, section, from, size };
      from += size;
      return slice;
    });
  });
  return slices.sort((one, other) => one.section - other.section);
}

/** Counts the rows of each section in all workspaces. */
export function countCombinedSections(
  { members }: Pick<AllState, 'members'>,
  pane: CombinedPaneId,
): number[] {
  const sums: number[] = [];
  for (const { state } of members)
    for (const [index, size] of state.lists[pane].sections.entries()) sums[index] = (sums[index] ?? 0) + size;
  return sums;
}

export const countCombinedRows = ({ members }: AllState, pane: CombinedPaneId): number =>
  members.reduce((sum, { state }) => sum + state.lists[pane].ids.length, 0);

/** Returns the index of the selected row, or where the first row of its workspace would be. */
export function findCombinedIndex(all: AllState, pane: CombinedPaneId): number {
  const { file, state } = findMember(all, all.cursors[pane]);
  const { index, ids } = state.lists[pane];
  if (ids.length === 0) {
    const before = all.members.slice(
      0,
      all.members.findIndex((each) => each.file === file),
    );
    return before.reduce((sum, each) => sum + (each.state.lists[pane].sections[0] ?? 0), 0);
  }
  let above = 0;
  for (const { member, from, size } of listSlices(all, pane)) {
    if (member.file === file && index < from + size) return above + Math.max(0, index - from);
    above += size;
  }
  return above;
}

/** Returns the member and the id of a row; the nearest row for an index beyond the list. Undefined in an empty list. */
export function findCombinedRow(
  all: AllState,
  pane: CombinedPaneId,
  index: number,
): { file: string; id: string } | undefined {
  let left = clampNumber(index, 0, Math.max(0, countCombinedRows(all, pane) - 1));
  for (const { member, from, size } of listSlices(all, pane)) {
    if (left < size) return { file: member.file, id: member.state.lists[pane].ids[from + left]! };
    left -= size;
  }
  return undefined;
}

/** Returns a number of rows from the first visible one. */
export function listVisibleRows(all: AllState, pane: CombinedPaneId, rows: number): ListedRow[] {
  let skip = all.tops[pane];
  const visible: ListedRow[] = [];
  for (const { member, from, size } of listSlices(all, pane)) {
    const { state } = member;
    const own = state.lists[pane].ids.slice(from, from + size);
    for (const id of own.slice(skip, skip + rows - visible.length)) visible.push({ state, id });
    skip = Math.max(0, skip - size);
    if (visible.length >= rows) break;
  }
  return visible;
}

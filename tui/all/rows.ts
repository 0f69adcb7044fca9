import type { ListedRow } from '../frame/list-lines.ts';
import type { CombinedPaneId } from '../pane-ids.ts';
import { clampNumber } from '../state/numbers.ts';
import { type AllState, findMember, type WorkspaceMember } from './state.ts';

// The rows of a combined list are grouped by workspace, in the order of the members, each in the order of its own
// list. Nothing is copied: ten thousand rows are counted, and only the visible ones are read.

const countOwn = ({ state }: WorkspaceMember, pane: CombinedPaneId): number => state.lists[pane].ids.length;

export const countCombinedRows = ({ members }: AllState, pane: CombinedPaneId): number =>
  members.reduce((sum, each) => sum + countOwn(each, pane), 0);

/** Counts the rows above those of a member. */
function countAbove({ members }: AllState, pane: CombinedPaneId, file: string): number {
  const at = members.findIndex((each) => each.file === file);
  return members.slice(0, at).reduce((sum, each) => sum + countOwn(each, pane), 0);
}

/** Returns the index of the selected row, or where it would be. */
export const findCombinedIndex = (all: AllState, pane: CombinedPaneId): number =>
  countAbove(all, pane, all.cursors[pane]) + findMember(all, all.cursors[pane]).state.lists[pane].index;

/** Returns the member and the id of a row; the nearest row for an index beyond the list. Undefined in an empty list. */
export function findCombinedRow(
  all: AllState,
  pane: CombinedPaneId,
  index: number,
): { file: string; id: string } | undefined {
  let left = clampNumber(index, 0, Math.max(0, countCombinedRows(all, pane) - 1));
  for (const member of all.members) {
    const id = member.state.lists[pane].ids[left];
    if (id !== undefined) return { file: member.file, id };
    left -= countOwn(member, pane);
  }
  return undefined;
}

/** Returns a number of rows from the first visible one. */
export function listVisibleRows(all: AllState, pane: CombinedPaneId, rows: number): ListedRow[] {
  let skip = all.tops[pane];
  const visible: ListedRow[] = [];
  for (const { state } of all.members) {
    const { ids } = state.lists[pane];
    for (const id of ids.slice(skip, skip + rows - visible.length)) visible.push({ state, id });
    skip = Math.max(0, skip - ids.length);
  }
  return visible;
}

import { type FittedColumn, fitColumns } from '../frame/fit-columns.ts';
import { addSectionHeadings, explainEmptyList, renderEmptyLines, renderRows } from '../frame/list-lines.ts';
import type { CombinedPaneId } from '../pane-ids.ts';
import { getPane } from '../panes/index.ts';
import type { Pane, PaneColumn } from '../panes/pane.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable } from '../text/text.ts';
import type { StyledLine } from '../text/theme.ts';
import { countCombinedRows, countCombinedSections, findCombinedIndex, listVisibleRows } from './rows.ts';
import { type AllState, findMember, type WorkspaceMember } from './state.ts';

/** The limits for the column of labels, which fits the longest one. */
const COLUMN_CELLS = { least: 9, most: 16 };

/** Renders the workspace of a row; a cross marks a stopped engine, whose row is the last known one. */
const workspaceColumn = (width: number): FittedColumn<object> => ({
  width,
  column: {
    head: 'workspace',
    text: (_, { across, link }) => `${link.phase === 'lost' ? '✗ ' : ''}${across?.label ?? ''}`,
    style: (_, { link }) => (link.phase === 'lost' ? 'bad' : undefined),
  } satisfies PaneColumn<object>,
});

const fitWorkspaceColumn = (members: readonly WorkspaceMember[]): number =>
  Math.min(
    COLUMN_CELLS.most,
    Math.max(COLUMN_CELLS.least, ...members.map(({ label }) => measureCells(makeDrawable(label)) + 2)),
  );

/** Renders a list with the rows of all workspaces, with a column for the workspace. */
export function renderCombinedList(
  all: AllState,
  id: CombinedPaneId,
  { cells, rows, focused }: { cells: number; rows: number; focused: boolean },
): StyledLine[] {
  const pane = getPane(id) as unknown as Pane<object>;
  const { state: of } = findMember(all, all.cursors[id]);
  if (countCombinedRows(all, id) === 0) return renderEmptyLines(explainEmptyAll(all, pane), rows);
  const width = fitWorkspaceColumn(all.members);
  const own = fitColumns(pane, cells - 1 - width - 1, of.preferences);
  const columns = [workspaceColumn(width), ...own];
  const { selected } = of.lists[id];
  const lines = renderRows(listVisibleRows(all, id, rows), { pane, columns, cells, focused, selected, of });
  return addSectionHeadings(lines, pane.sections, countCombinedSections(all, id), {
    top: all.tops[id],
    rows,
    cells,
  });
}

/** Explains an empty list: the text of a member that has answered, or that none has. */
function explainEmptyAll({ members }: AllState, pane: Pane<object>): readonly string[] {
  const known = members.find(({ state }) => state.link.phase !== 'connecting' && state.data.status !== null);
  const explained = explainEmptyList(pane, (known ?? members[0]!).state);
  const away = members.filter(({ state }) => state.link.phase === 'lost').length;
  return away === 0 ? explained : [...explained, '', `${away} of ${members.length} engines are not running.`];
}

/** Renders the cursor's position among all rows, at the right end of the border. */
export function describeCombinedList(all: AllState, id: CombinedPaneId): string | undefined {
  const total = countCombinedRows(all, id);
  return total === 0 ? undefined : `${findCombinedIndex(all, id) + 1} of ${total}`;
}

import { getLayout } from '../layout/layout.ts';
import type { PaneId } from '../pane-ids.ts';
import type { Pane, PaneColumn } from '../panes/pane.ts';
import type { State } from '../state/model.ts';

export interface FittedColumn<R> {
  column: PaneColumn<R>;
  width: number;
}

/** The minimum width of a column without a width. */
const LEAST_CELLS = 4;
/** Border, blanks at both sides, and the mark of the cursor. */
const SIDE_CELLS = 5;

/** The columns of a list of a given width. */
export const listColumns = <R>({ columns }: Pane<R>, cells: number): readonly PaneColumn<R>[] =>
  columns.filter(
    ({ minWidth = 0, maxWidth = Number.POSITIVE_INFINITY }) => cells >= minWidth && cells <= maxWidth,
  );

/** Returns a person's chosen columns, as many as fit, in their order. */
function listChosenColumns<R>(
  pane: Pane<R>,
  chosen: readonly string[],
  cells: number,
): readonly PaneColumn<R>[] {
  const here = listColumns(pane, cells);
  const found = chosen.flatMap((head) => [...here, ...pane.columns].find((each) => each.head === head) ?? []);
  let room = cells + 1;
  return found.filter(({ width = LEAST_CELLS }) => {
    const fits = width + 1 <= room;
    if (fits) room -= width + 1;
    return fits;
  });
}

/** The columns of a list that fit into `cells`, with their widths. */
export function fitColumns<R extends object>(
  pane: Pane<R>,
  cells: number,
  { columns: chosen }: State['preferences'],
): FittedColumn<R>[] {
  const own = chosen[pane.id];
  const shown = own === undefined ? listColumns(pane, cells) : listChosenColumns(pane, own, cells);
  const fixed = shown.reduce((sum, each) => sum + (each.width ?? 0), shown.length - 1);
  const open = shown.filter(({ width }) => width === undefined);
  const share = Math.max(LEAST_CELLS, Math.floor((cells - fixed) / Math.max(1, open.length)));
  // The last one gets the remainder.
  const rest = Math.max(LEAST_CELLS, cells - fixed - share * (open.length - 1));
  return shown.map((column) => ({
    column,
    width: column.width ?? (column === open.at(-1) ? rest : share),
  }));
}

/** Returns how many cells the columns of a pane have on the screen, or would have if its list were shown. */
export function getListCells(state: State, pane: PaneId): number {
  const box = getLayout(state)
    .columns.flat()
    .find(({ content }) => 'list' in content && content.list === pane);
  return (box?.width ?? state.size.columns) - SIDE_CELLS;
}

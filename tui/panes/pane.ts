import type { Fields } from '../state/filter.ts';
import type { Data, PaneId, State } from '../state/model.ts';
import type { Line, Style } from '../text/theme.ts';

export interface Column<R> {
  head: string;
  /** Cells; the column without one takes what the others leave. */
  width?: number;
  align?: 'right';
  /** Changes while work goes on: without a screen it is told with the row, and not whenever it changes. */
  isLively?: true;
  /** Left out when the list is narrower than this. */
  minWidth?: number;
  text(row: R, state: State): string;
  style?(row: R, state: State): Style | undefined;
}

export interface Preview {
  title: string;
  /** At the right end of the upper border. */
  note?: string;
  /** Stay above what is scrolled. */
  pinned?: readonly Line[];
  /** All of it; the frame shows the part that is scrolled to. */
  lines: readonly Line[];
  /** By key of the table: so many of the first lines have to be on the screen before it can agree to what they say. */
  essential?: Readonly<Record<string, number>>;
}

/**
 * A pane is data: which rows it has in which order, how a row and its preview look, and what is said when there is
 * none. Usage (6) takes its digit when its room exists.
 */
export interface Pane<R> {
  id: PaneId;
  /** Empty for a list that belongs to another pane. */
  digit: string;
  /** The pane that it belongs to; Esc goes back there. */
  parent?: PaneId;
  title: string;
  /** The parts of the data that its rows are made of: while these stay, so does the list. */
  dataParts: readonly (keyof Data)[];
  /** In the order of the list. */
  listRows(data: Data): readonly R[];
  getRowId(row: R): string;
  findRow(data: Data, id: string): R | undefined;
  fields: Fields<R>;
  columns: readonly Column<R>[];
  /** The number in the pane's tab: what is not finished. */
  countUnfinished(data: Data): number;
  /** What the tab says after the number, with what stands between the two. */
  describeTab?(state: State): string;
  /** Nothing to count is the normal state, and not shown. */
  isQuietAtZero?: true;
  /** Its cursor stays on the first row while another pane has the keyboard. */
  staysOnFirstRow?: true;
  /** What would fill it. */
  empty: readonly string[];
  /** At the right end of the list's upper border. */
  note?(state: State): string | undefined;
  renderPreview(state: State, row: R, cells: number): Preview;
}

// The list of all panes holds them with their row type closed over.
export type AnyPane = Pane<never>;
export const definePane = <R>(definition: Pane<R>): AnyPane => definition as unknown as AnyPane;

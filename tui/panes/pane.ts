import type { PaneId } from '../pane-ids.ts';
import type { FilterFields } from '../state/filter.ts';
import type { DetailSubject, State } from '../state/model.ts';
import type { DashboardData } from '../state/rows.ts';
import type { StyledLine, TextStyle } from '../text/theme.ts';

export interface PaneColumn<R> {
  head: string;
  /** In cells. Columns without a width share what the others leave. */
  width?: number;
  align?: 'right';
  /** True if it changes constantly, so plain mode prints it with the row but not on every change. */
  isLively?: true;
  /** The column is left out when the list has fewer cells than this. */
  minWidth?: number;
  /** The column is left out if the list has more cells than this, since another column shows it. */
  maxWidth?: number;
  /** Returns the sort value, if it is not the text; null for unknown values, which come last. */
  value?(row: R, state: State): number | string | null;
  text(row: R, state: State): string;
  style?(row: R, state: State): TextStyle | undefined;
}

export interface PanePreview {
  title: string;
  /** At the right end of the upper border. */
  note?: string;
  /** Lines that stay above the scrolled ones. */
  pinned?: readonly StyledLine[];
  /** Facts about the row: in their own box, or above the text. */
  facts?: readonly StyledLine[];
  /** All lines of the text; the frame shows a part of them. */
  lines: readonly StyledLine[];
  /**
   * Renders one of the lines, of which `left` cells are scrolled away, with colours that take time; undefined for a line
   * without any. Only visible lines are coloured.
   */
  colour?(line: number, left: number): StyledLine | undefined;
  /** Returns the line of a patch row. */
  findPatchLine?(row: number): number;
  /** By binding: how many of the first lines, facts included, must have been on the screen before its question may be asked. */
  essential?: Readonly<Record<string, number>>;
}

/** A pane as data: its rows and their order, how a row and its preview look, and the text of an empty list. */
export interface Pane<R> {
  id: PaneId;
  /** The number that focuses the pane; empty for a list that belongs to another pane. */
  digit: string;
  /** The pane that a list without a tab belongs to. Esc returns there. */
  parent?: PaneId;
  title: string;
  /** The parts of the data that the rows depend on. The list is rebuilt only when one of them changes. */
  dataParts: readonly (keyof DashboardData)[];
  /** All rows, in the order of the list. */
  listRows(data: DashboardData): readonly R[];
  getRowId(row: R): string;
  /** Returns what a question about a row is about, if several rows can be marked for one action. */
  findSubject?(data: DashboardData, id: string): DetailSubject | null;
  /** The names of its sections; the list is ordered by them. */
  sections?: readonly string[];
  /** The section of a row, as an index into `sections`. */
  getSection?(row: R): number;
  findRow(data: DashboardData, id: string): R | undefined;
  fields: FilterFields<R>;
  /** True if the engine searches by the filter and lists the best first: its results are not filtered again. */
  isSearchedByEngine?: true;
  columns: readonly PaneColumn<R>[];
  /** The number in the pane's tab. */
  countUnfinished(data: DashboardData): number;
  /** Text after the number in the tab, with its separator. */
  describeTab?(state: State): string;
  /** True if a count of 0 is normal and not shown. */
  isQuietAtZero?: true;
  /** True if the cursor stays on the first row while another pane has the focus. */
  staysOnFirstRow?: true;
  /** Returns the text of an empty list, which may depend on the reason. */
  empty: readonly string[] | ((data: DashboardData) => readonly string[]);
  /** At the right end of the list's upper border. */
  note?(state: State): string | undefined;
  renderPreview(state: State, row: R, cells: number): PanePreview;
}

/** Width of the list whose columns a printed row has. */
export const TOLD_CELLS = 120;

// The list of all panes must hold panes with different row types.
export type AnyPane = Pane<never>;
export const definePane = <R>(definition: Pane<R>): AnyPane => definition as unknown as AnyPane;

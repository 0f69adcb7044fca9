import type { PaneId } from '../pane-ids.ts';
import type { Fields } from '../state/filter.ts';
import type { State, Subject } from '../state/model.ts';
import type { Data } from '../state/rows.ts';
import type { Line, Style } from '../text/theme.ts';

export interface Column<R> {
  head: string;
  /** In cells. Columns without a width share what the others leave. */
  width?: number;
  align?: 'right';
  /** It changes all the time, so plain mode prints it with the row but not whenever it changes. */
  isLively?: true;
  /** The column is left out when the list has fewer cells than this. */
  minWidth?: number;
  /** The column is left out when the list has more cells than this, since another one says it. */
  maxWidth?: number;
  /** What the list is sorted by, where that is not the text; null where nothing is known, which comes last. */
  value?(row: R, state: State): number | string | null;
  text(row: R, state: State): string;
  style?(row: R, state: State): Style | undefined;
}

export interface Preview {
  title: string;
  /** At the right end of the upper border. */
  note?: string;
  /** Lines that stay above the scrolled ones. */
  pinned?: readonly Line[];
  /** All lines; the frame shows a part of them. */
  lines: readonly Line[];
  /** Which of the lines a row of the patch is. */
  findPatchLine?(row: number): number;
  /** By binding: how many of the first lines must have been on the screen before its question may be asked. */
  essential?: Readonly<Record<string, number>>;
}

/** A pane is data: its rows and their order, how a row and its preview look, and what an empty list says. */
export interface Pane<R> {
  id: PaneId;
  /** The key that focuses the pane; empty for a list that belongs to another pane. */
  digit: string;
  /** The pane that a list without a tab belongs to. Esc goes back there. */
  parent?: PaneId;
  title: string;
  /** The parts of the data that the rows depend on. The list is rebuilt only when one of them changes. */
  dataParts: readonly (keyof Data)[];
  /** All rows, in the order of the list. */
  listRows(data: Data): readonly R[];
  getRowId(row: R): string;
  /** What its rows are, where several can be marked for one action. */
  markedAs?: Subject['kind'];
  findRow(data: Data, id: string): R | undefined;
  fields: Fields<R>;
  /** The engine searches by the filter, and lists the best first: what it lists is not filtered again. */
  isSearchedByEngine?: true;
  columns: readonly Column<R>[];
  /** The number in the pane's tab. */
  countUnfinished(data: Data): number;
  /** Text after the number in the tab, with its separator. */
  describeTab?(state: State): string;
  /** A count of 0 is normal and not shown. */
  isQuietAtZero?: true;
  /** The cursor stays on the first row while another pane has the focus. */
  staysOnFirstRow?: true;
  /** What an empty list says, which may depend on why it is empty. */
  empty: readonly string[] | ((data: Data) => readonly string[]);
  /** At the right end of the list's upper border. */
  note?(state: State): string | undefined;
  renderPreview(state: State, row: R, cells: number): Preview;
}

/** Where a row is told and not drawn, it has the columns of a list of this width. */
export const TOLD_CELLS = 120;

// The list of all panes must hold panes with different row types.
export type AnyPane = Pane<never>;
export const definePane = <R>(definition: Pane<R>): AnyPane => definition as unknown as AnyPane;

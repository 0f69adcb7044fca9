import type { AnyPane, Pane } from '../panes/pane.ts';
import { isPaneFetched } from '../state/data.ts';
import type { ListSort, ListView, State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, padText, truncateText } from '../text/text.ts';
import { type StyledLine, type StyledSpan, span } from '../text/theme.ts';
import { type FittedColumn, fitColumns } from './fit-columns.ts';

/** Renders the headings, with an arrow at the sort column. */
const renderHeadings = (columns: readonly FittedColumn<object>[], sort: ListSort | null): StyledLine => [
  span(' '),
  ...columns.map(({ column: { head, align }, width }, index) => {
    const isSorted = sort?.column === head;
    const arrow = isSorted ? (sort.descending ? '↓' : '↑') : '';
    const text = padText(`${truncateText(head, width - arrow.length)}${arrow}`, width, align);
    const isLast = index === columns.length - 1;
    return span(isLast ? text.trimEnd() : `${text} `, isSorted ? 'key' : 'dim');
  }),
];

/** A row of a list, and the state of its workspace. */
export interface ListedRow {
  state: State;
  id: string;
}

/**
 * Renders the heading and visible rows of a list. The selected row has a mark in addition to its colour, and keeps
 * the colour of its state. Only visible rows are touched, so ten thousand rows cost as much as thirty.
 */
export function renderListLines(
  anyPane: AnyPane,
  state: State,
  { cells, rows, focused }: { cells: number; rows: number; focused: boolean },
): StyledLine[] {
  const pane = anyPane as unknown as Pane<object>;
  const list: ListView = state.lists[pane.id];
  if (list.ids.length === 0) return renderEmptyLines(explainEmptyList(pane, state), rows);
  const columns = fitColumns(pane, cells - 1, state.preferences);
  const visible = list.ids.slice(list.top, list.top + rows).map((id) => ({ state, id }));
  const lines = renderRows(visible, { pane, columns, cells, focused, selected: list.selected, of: state });
  return addSectionHeadings(lines, pane.sections, list.sections, { top: list.top, rows, cells });
}

/** Adds the name of each visible section, with its count, to the heading and rows of a list. */
export function addSectionHeadings(
  [columns = [], ...rows]: readonly StyledLine[],
  names: readonly string[] | undefined,
  sizes: readonly number[],
  { top, rows: room, cells }: { top: number; rows: number; cells: number },
): StyledLine[] {
  const lines: StyledLine[] = [];
  let start = 0;
  for (const [index, size] of sizes.entries()) {
    const shown = rows.slice(Math.max(0, start - top), Math.max(0, start + size - top));
    start += size;
    if (shown.length === 0) continue;
    const name = span(` ${names?.[index] ?? ''} ${size} `, index === 0 ? 'warn' : 'strong');
    const rule = span('─'.repeat(Math.max(0, cells - name.text.length)), 'border');
    lines.push(lines.length === 0 ? putBefore(name, columns) : [name, rule], ...shown);
  }
  return (sizes.length === 0 ? [columns, ...rows] : lines).slice(0, room + 1);
}

/** Puts the name of a section in place of the first columns, which need no heading. */
function putBefore(name: StyledSpan, columns: StyledLine): StyledLine {
  let cells = 0;
  const rest = columns.filter(({ text }) => {
    const isCovered = cells < name.text.length;
    if (isCovered) cells += measureCells(text);
    return !isCovered;
  });
  return [{ ...name, text: name.text.padEnd(cells) }, ...rest];
}

/** Renders the heading, and a line for each row. @param of whose row is selected, and whose list determines the sort order */
export function renderRows(
  rows: readonly ListedRow[],
  {
    pane,
    columns,
    cells,
    focused,
    selected,
    of,
  }: {
    pane: Pane<object>;
    columns: readonly FittedColumn<object>[];
    cells: number;
    focused: boolean;
    selected: string | null;
    of: State;
  },
): StyledLine[] {
  const renderRow = ({ state, id }: ListedRow): StyledLine => {
    const row = pane.findRow(state.data, id);
    if (row === undefined) return [];
    const cellsOf = columns.map(({ column, width: room }, index): StyledSpan => {
      const text = makeDrawable(column.text(row, state));
      // The last column needs no padding, which would only slow drawing down.
      const isLast = index === columns.length - 1;
      return span(
        isLast ? truncateText(text, room) : `${padText(text, room, column.align)} `,
        column.style?.(row, state),
      );
    });
    const isMarked = state.lists[pane.id].marks.has(id);
    const isSelected = state === of && id === selected;
    if (!isSelected) return [isMarked ? span('●', 'key') : span(' '), ...cellsOf];
    // There is one cursor on the screen, in the box that has the keyboard.
    const sign = isMarked ? '◉' : focused ? '▶' : '•';
    const room = cells - 1 - cellsOf.reduce((sum, { text }) => sum + measureCells(text), 0);
    const line = [span(sign, 'strong'), ...cellsOf, span(' '.repeat(Math.max(0, room)))];
    return focused
      ? line.map((each): StyledSpan => ({ ...each, isSelected: true }))
      : [span(line.map(({ text }) => text).join(''), 'marked')];
  };
  return [renderHeadings(columns, of.lists[pane.id].sort), ...rows.map(renderRow)];
}

export function renderEmptyLines(text: readonly string[], rows: number): StyledLine[] {
  return [...(rows > text.length ? [''] : []), ...text].map((line) => [span(`  ${line}`, 'dim')]);
}

/** Explains why a list is empty: nothing there, nothing that matches the filter, or not fetched yet. */
export function explainEmptyList(
  { id, empty }: Pick<Pane<object>, 'id' | 'empty'>,
  state: Pick<State, 'lists' | 'link' | 'data'>,
): readonly string[] {
  const { filter } = state.lists[id];
  if (!isPaneFetched(id, state))
    return [state.link.phase === 'connecting' ? 'Connecting to the engine …' : 'Still being fetched …'];
  if (filter === '') return typeof empty === 'function' ? empty(state.data) : empty;
  return [`Nothing matches ${filter}`, '', 'Esc clears the filter.'];
}

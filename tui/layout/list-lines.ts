import type { AnyPane, Column, Pane } from '../panes/pane.ts';
import { isPaneFetched } from '../state/data.ts';
import type { ListView, State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, padText, truncateText } from '../text/text.ts';
import { type Line, type Span, span } from '../text/theme.ts';

/** The columns that fit, with their widths. */
function fitColumns<R>(columns: readonly Column<R>[], cells: number): { column: Column<R>; width: number }[] {
  const shown = columns.filter(({ minWidth: from = 0 }) => cells >= from);
  const fixed = shown.reduce((sum, each) => sum + (each.width ?? 0) + 1, 0);
  return shown.map((column) => ({ column, width: column.width ?? Math.max(4, cells - fixed + 1) }));
}

/**
 * Heading and visible rows of a list. The selected row has a mark besides its colour, and is inverse in the focused pane.
 * Only visible rows are touched, so ten thousand rows cost as much as thirty.
 */
export function renderListLines(
  anyPane: AnyPane,
  state: State,
  options: { cells: number; rows: number; focused: boolean; marked?: boolean },
): Line[] {
  const pane = anyPane as unknown as Pane<object>;
  const list: ListView = state.lists[pane.id];
  const { cells, rows, focused } = options;
  const columns = fitColumns(pane.columns, cells - 1);
  if (list.ids.length === 0) return renderEmptyLines(explainEmptyList(pane, state), rows);
  const head: Line = [
    span(
      ` ${columns.map((each) => padText(each.column.head, each.width, each.column.align)).join(' ')}`.trimEnd(),
      'dim',
    ),
  ];
  const visible = list.ids.slice(list.top, list.top + rows);
  return [
    head,
    ...visible.map((id): Line => {
      const row = pane.findRow(state.data, id);
      if (row === undefined) return [];
      const isSelected = id === list.selected;
      const cellsOf = columns.map(({ column, width: room }, index): Span => {
        const text = makeDrawable(column.text(row, state));
        // The last column needs no padding, which would only be drawn for nothing.
        const isLast = index === columns.length - 1;
        return span(
          isLast ? truncateText(text, room) : `${padText(text, room, column.align)} `,
          column.style?.(row, state),
        );
      });
      if (!isSelected) return [span(' '), ...cellsOf];
      const text = `▶${cellsOf.map((each) => each.text).join('')}`;
      return [
        span(text + ' '.repeat(Math.max(0, cells - measureCells(text))), focused ? 'selected' : 'marked'),
      ];
    }),
  ];
}

function renderEmptyLines(text: readonly string[], rows: number): Line[] {
  return [...(rows > text.length ? [''] : []), ...text].map((line) => [span(`  ${line}`, 'dim')]);
}

/** Says why a list is empty: nothing there, nothing that matches the filter, or not fetched yet. */
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

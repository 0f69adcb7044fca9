import { getPane, getSelectedRow, PANES } from '../panes/index.ts';
import { type Pane, TOLD_CELLS } from '../panes/pane.ts';
import { describeUrgentItem } from '../panes/waiting.ts';
import { isPaneFetched } from '../state/data.ts';
import type { State } from '../state/model.ts';
import { listUrgentItems } from '../state/work-items.ts';
import { makeDrawable, truncateText, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { listColumns } from './fit-columns.ts';
import { explainEmptyList } from './list-lines.ts';

/** Renders a screen without room for lists: the selected row, the most urgent item, and counts. */
export function renderSmallScreen(state: State, rows: number): StyledLine[] {
  const { columns } = state.size;
  const pane = getPane(state.focus) as unknown as Pane<object>;
  const row = getSelectedRow(state, state.focus);
  const list = state.lists[state.focus];
  const head = `${pane.title}: ${!isPaneFetched(state.focus, state) ? '…' : list.ids.length === 0 ? 'none' : `${list.index + 1} of ${list.ids.length}`}`;
  const texts =
    row === undefined
      ? []
      : listColumns(pane, TOLD_CELLS).map((column) => ({
          head: column.head,
          text: makeDrawable(column.text(row, state)),
        }));
  const title = texts.find((each) => /^(?:title|text|question|path|doing)$/.test(each.head))?.text ?? '';
  const others = texts.filter((each) => each.text !== title).map((each) => each.text.trim());
  const counts = PANES.map((each) => {
    const more = each.describeTab?.(state) ?? '';
    const count = state.link.phase === 'connecting' ? '…' : each.countUnfinished(state.data);
    const shown = count === 0 && each.isQuietAtZero && more !== '' ? more : ` ${count}${more}`;
    return `${each.title.toLowerCase()}${shown}`;
  }).join(' · ');
  const [first] = listUrgentItems(state.data);
  const isHere = state.focus === 'work' && first?.id === list.selected;
  const lines: StyledLine[] = [
    [span(` ${head}`, 'title')],
    ...(row === undefined
      ? [[span(` ${explainEmptyList(pane, state)[0]}`, 'dim')]]
      : [
          [span(truncateText(` ▶ ${others.join(' ')}`, columns), 'marked')],
          ...wrapText(title, columns - 4)
            .slice(0, 2)
            .map((text): StyledLine => [span(`   ${text}`)]),
        ]),
    ...(first === undefined || isHere
      ? []
      : [
          [
            span(
              truncateText(` . waits: ${makeDrawable(describeUrgentItem(first, state))}`, columns),
              'warn',
            ),
          ] as StyledLine,
        ]),
    ...wrapText(counts, columns - 2).map((text): StyledLine => [span(` ${text}`, 'dim')]),
  ];
  return lines.slice(0, rows);
}

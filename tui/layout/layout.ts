import type { PaneId, Size, State } from '../state/model.ts';
import { clampNumber } from '../state/numbers.ts';
import { isWideScreen } from '../state/size.ts';
import { renderMessageLines, renderQuestionLines } from './bottom-lines.ts';

/** What a box shows: a pane's list, the preview of the focused pane, or the log of the selected worker. */
export type Content = { list: PaneId } | { preview: PaneId } | { log: true };

export interface Box {
  content: Content;
  width: number;
  height: number;
}

/** Columns from left to right, each a stack of boxes. */
export interface Layout {
  kind: 'wide' | 'tabs' | 'small' | 'too-small';
  columns: readonly (readonly Box[])[];
  /** Rows between the header lines and the bottom lines. */
  body: number;
}

/** Rows taken by the border and heading of a list, and by the border of a preview. */
export const LIST_EDGE = 3;
export const PREVIEW_EDGE = 2;

/** Below this size, one line says what size is needed. */
export const SMALLEST: Size = { columns: 40, rows: 10 };
const SMALLEST_TABS: Size = { columns: 60, rows: 15 };

// States are immutable, so each layout is computed once.
const layoutCache = new WeakMap<State, Layout>();

export function getLayout(state: State): Layout {
  const layout = layoutCache.get(state) ?? computeLayout(state);
  layoutCache.set(state, layout);
  return layout;
}

function computeLayout(state: State): Layout {
  const { size, view, focus, lists } = state;
  const { columns, rows } = size;
  if (columns < SMALLEST.columns || rows < SMALLEST.rows)
    return { kind: 'too-small', columns: [], body: rows };
  const notices =
    renderMessageLines(state).length +
    Math.max(0, renderQuestionLines(state).length - 1) +
    (state.link.phase === 'lost' ? 1 : 0) +
    ((state.data.status?.consent_pending ?? []).length > 0 ? 1 : 0) +
    (state.data.held.length > 0 ? 1 : 0);
  const wide = isWideScreen(size);
  // Header, tabs (if any) and hint line take the other rows.
  const body = rows - (wide ? 2 : 3) - notices;
  if (view === 'full') {
    const full = { content: { preview: focus }, width: columns, height: body };
    return { kind: wide ? 'wide' : 'tabs', columns: [[full]], body };
  }
  if (columns < SMALLEST_TABS.columns || rows < SMALLEST_TABS.rows)
    return { kind: 'small', columns: [], body };
  if (!wide) {
    const list = clampNumber(lists[focus].ids.length + LIST_EDGE, 6, Math.max(6, Math.floor(body * 0.4)));
    const boxes = [
      { content: { list: focus }, width: columns, height: list },
      { content: { preview: focus }, width: columns, height: body - list },
    ];
    return { kind: 'tabs', columns: [boxes], body };
  }
  const left = Math.floor(columns * 0.42);
  const right = columns - left;
  if (focus === 'memories') {
    const list = { content: { list: focus }, width: left, height: body };
    return {
      kind: 'wide',
      columns: [[list], [{ content: { preview: focus }, width: right, height: body }]],
      body,
    };
  }
  const most = clampNumber(Math.floor(body * 0.25), 6, 10);
  const fitListHeight = (pane: PaneId, least: number): number =>
    clampNumber(lists[pane].ids.length + LIST_EDGE, least, most);
  const [decisions, asks, workers] = [
    fitListHeight('decisions', 6),
    fitListHeight('asks', 5),
    fitListHeight('workers', 6),
  ];
  const talk: PaneId = focus === 'peers' || focus === 'locks' ? focus : 'bus';
  const bottom: PaneId = focus === 'deliveries' || focus === 'usage' ? focus : 'events';
  // Two rows show that something arrived; with the focus, the list gets more.
  const fitLowerHeight = (pane: PaneId): number =>
    clampNumber(Math.floor(body * (focus === pane ? 0.3 : 0.16)), 5, 14);
  const [bus, events] = [fitLowerHeight(talk), fitLowerHeight(bottom)];
  const log = Math.floor((body - events - bus) * 0.4);
  return {
    kind: 'wide',
    columns: [
      [
        { content: { list: 'decisions' }, width: left, height: decisions },
        { content: { list: 'asks' }, width: left, height: asks },
        { content: { list: 'tasks' }, width: left, height: body - decisions - asks - workers },
        { content: { list: 'workers' }, width: left, height: workers },
      ],
      [
        { content: { preview: focus }, width: right, height: body - log - bus - events },
        { content: { log: true }, width: right, height: log },
        { content: { list: talk }, width: right, height: bus },
        { content: { list: bottom }, width: right, height: events },
      ],
    ],
    body,
  };
}

/** How many rows of a pane's list are visible, or would be if the layout showed the list. */
export function getListHeight(layout: Layout, pane: PaneId): number {
  const boxes = layout.columns.flat();
  const own = boxes.find(({ content }) => 'list' in content && content.list === pane);
  return Math.max(1, (own?.height ?? layout.body) - LIST_EDGE);
}

/** Inner size of the preview's box; null if the layout has none. */
export function getPreviewSize(layout: Layout): { cells: number; lines: number } | null {
  const box = layout.columns.flat().find(({ content }) => 'preview' in content);
  return box === undefined ? null : { cells: box.width - 4, lines: Math.max(1, box.height - PREVIEW_EDGE) };
}

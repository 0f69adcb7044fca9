import type { PaneId } from '../pane-ids.ts';
import { isCombinedPane, SOLE_PANES } from '../pane-ids.ts';
import { isPaneFetched } from '../state/data.ts';
import type { ScreenSize, State } from '../state/model.ts';
import { clampNumber } from '../state/numbers.ts';
import { isWideScreen } from '../state/size.ts';
import { renderMessageLines, renderQuestionLines } from './bottom-lines.ts';

/** The content of a box: a pane's list, the preview of the focused pane, or the log of the selected worker. */
export type BoxContent = { list: PaneId } | { preview: PaneId } | { log: true };

export interface LayoutBox {
  content: BoxContent;
  width: number;
  height: number;
}

/** Columns from left to right, each a stack of boxes. */
export interface ScreenLayout {
  kind: 'wide' | 'tabs' | 'small' | 'too-small';
  columns: readonly (readonly LayoutBox[])[];
  /** Rows between the header lines and the bottom lines. */
  body: number;
}

/** Rows taken by the border and heading of a list, and by the border of a preview. */
export const LIST_EDGE = 3;
export const PREVIEW_EDGE = 2;

/** Below this size, one line says what size is needed. */
export const SMALLEST: ScreenSize = { columns: 40, rows: 10 };
const SMALLEST_TABS: ScreenSize = { columns: 60, rows: 15 };

// States are immutable, so each layout is computed once.
const layoutCache = new WeakMap<State, ScreenLayout>();

export function getLayout(state: State): ScreenLayout {
  const layout = layoutCache.get(state) ?? computeLayout(state);
  layoutCache.set(state, layout);
  return layout;
}

function computeLayout(state: State): ScreenLayout {
  const { size, view, focus } = state;
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
  if (state.isZoomed) {
    const list = { content: { list: focus }, width: columns, height: rows - 3 - notices };
    return { kind: 'tabs', columns: [[list]], body: list.height };
  }
  if (!wide) {
    const list = clampNumber(countRows(state, focus) + LIST_EDGE, 6, Math.max(6, Math.floor(body * 0.4)));
    const boxes = [
      { content: { list: focus }, width: columns, height: list },
      { content: { preview: focus }, width: columns, height: body - list },
    ];
    return { kind: 'tabs', columns: [boxes], body };
  }
  const left = Math.floor(columns * (MANY_COLUMNS.has(focus) ? WIDER_SHARE : LEFT_SHARE));
  const right = columns - left;
  if (SOLE_PANES.has(focus)) {
    const list = { content: { list: focus }, width: left, height: body };
    return {
      kind: 'wide',
      columns: [[list], [{ content: { preview: focus }, width: right, height: body }]],
      body,
    };
  }
  const heights = shareLeftHeight(state, body);
  const talk: PaneId = focus === 'peers' || focus === 'locks' ? focus : 'bus';
  const bottom: PaneId = focus === 'deliveries' || focus === 'usage' ? focus : 'events';
  // Two rows show that something arrived; the focused list gets more, and an empty one has a line.
  const fitLowerHeight = (pane: PaneId): number =>
    isKnownEmpty(state, pane) && focus !== pane
      ? EMPTY_HEIGHT
      : clampNumber(Math.floor(body * (focus === pane ? 0.3 : 0.16)), 5, 14);
  const [bus, events] = [fitLowerHeight(talk), fitLowerHeight(bottom)];
  const log = isKnownEmpty(state, 'workers') ? EMPTY_HEIGHT : Math.floor((body - events - bus) * 0.4);
  return {
    kind: 'wide',
    columns: [
      LEFT_PANES.map((pane) => ({ content: { list: pane }, width: left, height: heights[pane] })),
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

/** The share of a wide screen that the lists at the left have; some have more columns. */
const LEFT_SHARE = 0.42;
const WIDER_SHARE = 0.55;
const MANY_COLUMNS: ReadonlySet<PaneId> = new Set(['workers', 'stats']);

const LEFT_PANES = ['decisions', 'asks', 'tasks', 'workers'] as const;
type LeftPane = (typeof LEFT_PANES)[number];

/** Rows of an empty list, and of one that has to make room. */
const EMPTY_HEIGHT = PREVIEW_EDGE + 1;
const LEAST_HEIGHT = LIST_EDGE + 2;
/** Rows that lists may have while another one has the focus, enough for ten running workers. */
const MOST_UNFOCUSED = { decisions: 9, asks: 8, workers: 13 } as const;

/** Counts the rows of a list, including those of other workspaces. */
const countRows = ({ lists, across }: State, pane: PaneId): number =>
  isCombinedPane(pane) && across?.lists != null ? across.lists.lengths[pane] : lists[pane].ids.length;

/** Sessions that have not ended. */
export const countLive = ({ sessions }: State['data']): number =>
  [...sessions.values()].filter((each) => each.state !== 'ended').length;

const isKnownEmpty = (state: State, pane: PaneId): boolean =>
  countRows(state, pane) === 0 && isPaneFetched(pane, state);

/**
 * Computes the heights of the lists at the left, which fill it. Empty ones have a line; pending and running items get
 * their rows, then the focused list its rows, and the tasks get the rest.
 */
function shareLeftHeight(state: State, body: number): Record<LeftPane, number> {
  const { focus, data, across } = state;
  const heights = Object.fromEntries(
    LEFT_PANES.map((pane) => [pane, isKnownEmpty(state, pane) ? EMPTY_HEIGHT : LEAST_HEIGHT]),
  ) as Record<LeftPane, number>;
  let left = body - LEFT_PANES.reduce((sum, pane) => sum + heights[pane], 0);
  const growTo = (pane: LeftPane, rows: number): void => {
    const more = clampNumber(rows - heights[pane], 0, Math.max(0, left));
    heights[pane] += more;
    left -= more;
  };
  const fitRows = (pane: LeftPane): number => countRows(state, pane) + LIST_EDGE;
  growTo('decisions', Math.min(fitRows('decisions'), MOST_UNFOCUSED.decisions));
  growTo('asks', Math.min(fitRows('asks'), MOST_UNFOCUSED.asks));
  if (focus === 'workers') growTo('workers', fitRows('workers'));
  const running = across?.lists?.live ?? countLive(data);
  growTo('workers', Math.min(running + LIST_EDGE, MOST_UNFOCUSED.workers));
  if (focus === 'decisions' || focus === 'asks') growTo(focus, fitRows(focus));
  heights.tasks += left;
  return heights;
}

/** Returns how many rows of a pane's list are visible, or would be if the layout showed the list. */
export function getListHeight(layout: ScreenLayout, pane: PaneId): number {
  const boxes = layout.columns.flat();
  const own = boxes.find(({ content }) => 'list' in content && content.list === pane);
  return Math.max(1, (own?.height ?? layout.body) - LIST_EDGE);
}

/** Returns the inner size of the preview's box; null if the layout has none. */
export function getPreviewSize(layout: ScreenLayout): { cells: number; lines: number } | null {
  const box = layout.columns.flat().find(({ content }) => 'preview' in content);
  return box === undefined ? null : { cells: box.width - 4, lines: Math.max(1, box.height - PREVIEW_EDGE) };
}

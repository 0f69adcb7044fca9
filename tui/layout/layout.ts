import type { PaneId } from '../pane-ids.ts';
import { isCombinedPane } from '../pane-ids.ts';
import { findShownWork } from '../state/details.ts';
import { countListLines } from '../state/lists.ts';
import type { ScreenSize, State } from '../state/model.ts';
import { clampNumber } from '../state/numbers.ts';
import { renderMessageLines, renderQuestionLines } from './bottom-lines.ts';

/**
 * The content of a box: a pane's list, facts about the selected row, its text, or the files of its diff. Without a box
 * for facts, they are above the text.
 */
export type BoxContent = { list: PaneId } | { facts: PaneId } | { files: PaneId } | { preview: PaneId };

export interface LayoutBox {
  content: BoxContent;
  width: number;
  height: number;
}

/** Columns from left to right, each a stack of boxes. */
export interface ScreenLayout {
  kind: 'panes' | 'tabs' | 'small' | 'too-small';
  columns: readonly (readonly LayoutBox[])[];
  /** Rows between the header lines and the bottom lines. */
  body: number;
}

/** Rows taken by the border and heading of a list, and by the border of a preview. */
export const LIST_EDGE = 3;
export const PREVIEW_EDGE = 2;
/** Columns taken by the borders of a box, and the blanks next to them. */
const SIDE_EDGE = 4;

/** Below this size, one line says what size is needed. */
export const SMALLEST: ScreenSize = { columns: 40, rows: 10 };
const SMALLEST_TABS: ScreenSize = { columns: 60, rows: 15 };
/** From this size, lists and texts are side by side; a person may choose that from the smaller one. */
const PANES: ScreenSize = { columns: 130, rows: 30 };
const SMALLEST_PANES: ScreenSize = { columns: 100, rows: 20 };

const isAtLeast = (size: ScreenSize, least: ScreenSize): boolean =>
  size.columns >= least.columns && size.rows >= least.rows;

/** Reports whether lists and texts are side by side. */
const hasPanes = ({ size, preferences: { layout } }: State): boolean =>
  layout !== 'tabs' && isAtLeast(size, layout === 'panes' ? SMALLEST_PANES : PANES);

/** Counts the lines between the views and the boxes. */
export const countBannerLines = ({ link, data }: State): number =>
  [link.phase === 'lost', (data.status?.consent_pending ?? []).length > 0, data.held.length > 0].filter(
    Boolean,
  ).length;

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
  if (!isAtLeast(size, SMALLEST)) return { kind: 'too-small', columns: [], body: rows };
  const notices =
    renderMessageLines(state).length +
    Math.max(0, renderQuestionLines(state).length - 1) +
    countBannerLines(state);
  // Header, views and hint line take the other rows.
  const body = rows - 3 - notices;
  const whole = (content: BoxContent): ScreenLayout['columns'] => [
    [{ content, width: columns, height: body }],
  ];
  const kind = hasPanes(state) ? 'panes' : 'tabs';
  if (view === 'full') return { kind, columns: shareText(state, columns, body), body };
  if (!isAtLeast(size, SMALLEST_TABS)) return { kind: 'small', columns: [], body };
  // Next to an empty list there is nothing to show; a filter may find rows at its next letter.
  const isEmpty = countLines(state, focus) === 0 && state.lists[focus].filter === '';
  if (state.isZoomed || isEmpty) return { kind, columns: whole({ list: focus }), body };
  if (kind === 'tabs') {
    const list = clampNumber(
      countLines(state, focus) + LIST_EDGE,
      6,
      Math.max(6, Math.floor(body * LIST_SHARE)),
    );
    const boxes = [
      { content: { list: focus }, width: columns, height: list },
      { content: { preview: focus }, width: columns, height: body - list },
    ];
    return { kind, columns: [boxes], body };
  }
  const left = Math.floor(columns * (MANY_COLUMNS.has(focus) ? WIDER_SHARE : LEFT_SHARE));
  return { kind, columns: [shareLeft(state, left, body), ...shareText(state, columns - left, body)], body };
}

/** The share of the rows that a list above its preview may have. */
const LIST_SHARE = 0.55;
/** The share of the columns that the list at the left has; some have more columns. */
const LEFT_SHARE = 0.45;
const WIDER_SHARE = 0.55;
const MANY_COLUMNS: ReadonlySet<PaneId> = new Set(['stats', 'events', 'runners']);
/** The rows of the facts below a long list. */
const FACTS_SHARE = 0.35;

/** Divides the left side: the list of work has the rows that it needs, and the facts about its selected row the rest. */
function shareLeft(state: State, width: number, body: number): LayoutBox[] {
  const { focus } = state;
  if (focus !== 'work') return [{ content: { list: focus }, width, height: body }];
  const most = body - Math.floor(body * FACTS_SHARE);
  const height = clampNumber(countLines(state, focus) + LIST_EDGE, 6, most);
  return [
    { content: { list: focus }, width, height },
    { content: { facts: focus }, width, height: body - height },
  ];
}

/** From this many cells, a diff has both sides of a change next to each other. */
export const SIDE_BY_SIDE = 156;
/** The columns that a diff in one column keeps, and those of the list of its files. */
const LEAST_DIFF = 84;
const FILES_WIDTH = { least: 24, most: 40 };

/** Divides the room of the text: a diff of several files has a list of them at its left, if it keeps its own room. */
function shareText(state: State, width: number, height: number): LayoutBox[][] {
  const { focus } = state;
  const isWide = width >= SIDE_BY_SIDE + SIDE_EDGE;
  const spare = Math.min(FILES_WIDTH.most, width - (isWide ? SIDE_BY_SIDE + SIDE_EDGE : LEAST_DIFF));
  const hasFiles =
    spare >= FILES_WIDTH.least && !state.isPlain && (findShownWork(state)?.files.length ?? 0) > 1;
  if (!hasFiles) return [[{ content: { preview: focus }, width, height }]];
  return [
    [{ content: { files: focus }, width: spare, height }],
    [{ content: { preview: focus }, width: width - spare, height }],
  ];
}

/** Counts the lines of a list, including those of other workspaces. */
function countLines({ lists, across }: State, pane: PaneId): number {
  if (isCombinedPane(pane) && across?.lists != null) return across.lists.lines[pane];
  const { sections, ids } = lists[pane];
  return countListLines(sections, ids.length);
}

/** Sessions that have not ended. */
export const countLive = ({ sessions }: State['data']): number =>
  [...sessions.values()].filter((each) => each.state !== 'ended').length;

/** Returns how many lines of a pane's list are visible, or would be if the layout showed the list. */
export function getListHeight(layout: ScreenLayout, pane: PaneId): number {
  const boxes = layout.columns.flat();
  const own = boxes.find(({ content }) => 'list' in content && content.list === pane);
  return Math.max(1, (own?.height ?? layout.body) - LIST_EDGE);
}

/** The inner size of a box. */
interface InnerSize {
  cells: number;
  lines: number;
}

const findInnerSize = (layout: ScreenLayout, what: 'preview' | 'facts' | 'files'): InnerSize | null => {
  const box = layout.columns.flat().find(({ content }) => what in content);
  return box === undefined
    ? null
    : { cells: box.width - SIDE_EDGE, lines: Math.max(1, box.height - PREVIEW_EDGE) };
};

/** Returns the inner size of the preview's box; null if the layout has none. */
export const getPreviewSize = (layout: ScreenLayout): InnerSize | null => findInnerSize(layout, 'preview');

/** Reports whether facts have their own box. */
export const hasFactsBox = (state: State): boolean => getFactsSize(getLayout(state)) !== null;

/** Returns the inner size of the box for the files of the diff; null if the layout has none. */
export const getFilesSize = (layout: ScreenLayout): InnerSize | null => findInnerSize(layout, 'files');

/** Reports whether the files of the diff have their own box. */
export const hasFilesBox = (state: State): boolean => getFilesSize(getLayout(state)) !== null;

/** Returns the inner size of the box for facts; null if they are above the text. */
export const getFactsSize = (layout: ScreenLayout): InnerSize | null => findInnerSize(layout, 'facts');

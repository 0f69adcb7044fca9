import { getLayout, getListHeight, getPreviewSize } from '../layout/layout.ts';
import type { PaneId } from '../pane-ids.ts';
import { isCombinedPane } from '../pane-ids.ts';
import { getPreview, getTabPane, PANES } from '../panes/index.ts';
import { findDiffCursor } from '../state/details.ts';
import { createInput, EMPTY_INPUT } from '../state/input.ts';
import { dropMarks, moveCursorTo, selectRow } from '../state/lists.ts';
import { pauseLog, resumeLog } from '../state/log.ts';
import type { ScrollPosition, State } from '../state/model.ts';
import { getRunText, isShowingRun } from '../state/selection.ts';
import { listUrgentItems } from '../state/work-items.ts';
import { toPlainText } from '../text/theme.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

export const replaceList = (state: State, pane: PaneId, list: State['lists'][PaneId]): State => ({
  ...state,
  lists: { ...state.lists, [pane]: list },
});

/** Identifies the preview. Another item starts at its top. */
export const getPreviewKey = (state: State): string =>
  `${state.focus} ${state.lists[state.focus].selected} ${isShowingRun(state) ? getRunText(state) : ''}`;

export const getScroll = (state: State): ScrollPosition =>
  state.scroll.of === getPreviewKey(state) ? state.scroll : { of: getPreviewKey(state), top: 0, left: 0 };

/** Reports whether the preview is a log. A followed log shows its end; all other previews keep their scroll position. */
export const isShowingLog = (state: State): boolean =>
  isShowingRun(state) && ['log', 'command'].includes(getRunText(state));

/** The last line that the preview can start with, the lines that fit, and the position of a patch row. */
export function measurePreview(state: State): { end: number; page: number; findLine(row: number): number } {
  const size = getPreviewSize(getLayout(state));
  const preview = size === null ? null : getPreview(state, state.focus, size.cells);
  const findLine = (row: number): number => preview?.findPatchLine?.(row) ?? 0;
  if (size === null) return { end: 0, page: 1, findLine };
  const page = Math.max(1, size.lines - (preview?.pinned?.length ?? 0));
  return { end: Math.max(0, (preview?.lines.length ?? 0) - page), page, findLine };
}

/** The first visible line of the focused preview. */
export function getPreviewTop(state: State): number {
  const { end, page, findLine } = measurePreview(state);
  if (isShowingLog(state) && state.log.following) return end;
  const top = Math.min(getScroll(state).top, end);
  const cursor = findDiffCursor(state);
  if (cursor === null) return top;
  // The cursor stays on the screen, even if lines are added above it.
  const from = findLine(cursor);
  const to = Math.max(from, findLine(cursor + 1) - 1);
  return Math.min(from, Math.max(top, to - page + 1));
}

/** Scrolls the preview to a line, as far as there are lines. */
export function scrollPreviewTo(state: State, top: number): State {
  const { end } = measurePreview(state);
  const to = Math.max(0, Math.min(top, end));
  const scrolled = { ...state, scroll: { ...getScroll(state), top: to } };
  if (!isShowingLog(state)) return scrolled;
  // Reaching the end of a log resumes following it.
  return { ...scrolled, log: to >= end ? resumeLog(state.log) : pauseLog(state.log) };
}

const scrollPreviewBy =
  (lines: number) =>
  (state: State): StateTransition =>
    transitionTo(scrollPreviewTo(state, getPreviewTop(state) + lines));

/** Reports whether a list holds the rows of all workspaces. */
export const isCombinedList = ({ across }: Pick<State, 'across'>, pane: PaneId): boolean =>
  across !== null && across.lists !== null && isCombinedPane(pane);

/** Moves the cursor among the rows of this workspace. */
export function moveWithinList(state: State, by: number): State {
  const list = state.lists[state.focus];
  return replaceList(state, state.focus, moveCursorTo(list, list.index + by));
}

const moveCursorBy =
  (by: (state: State) => number) =>
  (state: State): StateTransition =>
    isCombinedList(state, state.focus)
      ? transitionTo(state, { do: 'across', step: { to: 'row', by: by(state) } })
      : transitionTo(moveWithinList(state, by(state)));

/** Decides what a key moves: the cursor in a list, or the text in a full preview. */
const inListOrPreview =
  (inList: (state: State) => StateTransition, inFull: (state: State) => StateTransition) =>
  (state: State): StateTransition =>
    state.view === 'list' ? inList(state) : inFull(state);

export const getPreviewPage = (state: State): number => Math.max(1, measurePreview(state).page - 1);

export const moveUp = inListOrPreview(
  moveCursorBy(() => -1),
  scrollPreviewBy(-1),
);
export const moveDown = inListOrPreview(
  moveCursorBy(() => 1),
  scrollPreviewBy(1),
);
export const moveToTop = inListOrPreview(
  moveCursorBy(() => -Infinity),
  (state) => transitionTo(scrollPreviewTo(state, 0)),
);
export const moveToBottom = inListOrPreview(
  moveCursorBy(() => Infinity),
  (state) => transitionTo(scrollPreviewTo(state, Number.MAX_SAFE_INTEGER)),
);
export const scrollPageUp = (state: State): StateTransition =>
  transitionTo(scrollPreviewTo(state, getPreviewTop(state) - getPreviewPage(state)));
export const scrollPageDown = (state: State): StateTransition =>
  transitionTo(scrollPreviewTo(state, getPreviewTop(state) + getPreviewPage(state)));

const getListPage = (state: State): number => getListHeight(getLayout(state), state.focus);
export const pageListUp = inListOrPreview(
  moveCursorBy((state) => -getListPage(state)),
  scrollPageUp,
);
export const pageListDown = inListOrPreview(moveCursorBy(getListPage), scrollPageDown);

export const scrollSideways =
  (cells: number) =>
  (state: State): StateTransition => {
    const scroll = getScroll(state);
    return transitionTo({ ...state, scroll: { ...scroll, left: Math.max(0, scroll.left + cells) } });
  };

export const focusPane =
  (pane: PaneId) =>
  (state: State): StateTransition =>
    isShowingAll(state)
      ? transitionTo(state, { do: 'across', step: { to: 'pane', pane } })
      : transitionTo({ ...state, focus: pane, view: 'list' });

/** Reports whether the rows of several workspaces are on the screen. */
export const isShowingAll = ({ across }: Pick<State, 'across'>): boolean => across?.lists != null;

/** Gives the keyboard to the next box on the screen: the list, or the text next to it. Without boxes, to the next list. */
export const focusNextBox =
  (by: 1 | -1) =>
  (state: State): StateTransition => {
    const boxes = getLayout(state).columns.flat();
    if (boxes.some(({ content }) => 'list' in content) && !state.isZoomed)
      return transitionTo({
        ...state,
        view: state.view === 'list' && state.lists[state.focus].selected !== null ? 'text' : 'list',
      });
    const at = PANES.findIndex((each) => each.id === getTabPane(state.focus));
    return focusPane(PANES[(at + by + PANES.length) % PANES.length]!.id)(state);
  };

export function goToNextWaiting(state: State): StateTransition {
  if (isShowingAll(state)) return transitionTo(state, { do: 'across', step: { to: 'waiting' } });
  if (state.link.phase === 'connecting')
    return transitionTo(showMessage(state, 'still connecting: waiting items are not known yet'));
  const all = listUrgentItems(state.data);
  if (all.length === 0) return transitionTo(showMessage(state, 'nothing waits for you', 'good'));
  return transitionTo(goToUrgentRow(state, chooseNextUrgent(state, all, ({ id }) => id)!.id));
}

/** Chooses the most urgent row or, from there and while the same key is pressed, the next one. */
export function chooseNextUrgent<R>(
  { focus, lists, urgentAt }: Pick<State, 'focus' | 'lists' | 'urgentAt'>,
  urgent: readonly R[],
  getOwnId: (row: R) => string | null,
): R | undefined {
  const { selected } = lists.work;
  const here =
    focus === 'work' && selected !== null ? urgent.findIndex((row) => getOwnId(row) === selected) : -1;
  const isOnTheWay = here === 0 || urgentAt === selected;
  return urgent[isOnTheWay ? (here + 1) % Math.max(1, urgent.length) : 0];
}

/** Goes to an urgent row. */
export const goToUrgentRow = (state: State, id: string): State => ({ ...goToRow(state, id), urgentAt: id });

/** Selects a row of the list of work as soon as it is listed. */
const goToRow = (state: State, id: string): State => ({
  ...state,
  focus: 'work',
  view: 'list',
  jump: { pane: 'work', id },
});

/** Switches between all workspaces and a single one. */
export const switchWorkspace = (state: State): StateTransition =>
  transitionTo(state, { do: 'across', step: { to: 'workspace' } });

export const checkHasWorkspaces = ({ across }: State): string | null =>
  across === null ? 'svc dash --all shows all workspaces of this machine' : null;

export function openPreview(state: State): StateTransition {
  if (state.lists[state.focus].selected === null)
    return transitionTo(showMessage(state, 'nothing is selected'));
  return transitionTo({ ...state, view: 'full' });
}

/** Goes back one level: search, full view, message, marks, filter, zoom, then the pane that a list belongs to, then the list of work. */
export function goBack(state: State): StateTransition {
  if (findDiffCursor(state) !== null) return transitionTo({ ...state, diffCursor: null });
  if (state.search !== null && state.view !== 'list') return transitionTo({ ...state, search: null });
  if (state.view !== 'list') return transitionTo({ ...state, view: 'list' });
  if (state.message !== null) return transitionTo({ ...state, message: null });
  const list = state.lists[state.focus];
  if (list.marks.size > 0) return transitionTo(replaceList(state, state.focus, dropMarks(list)));
  if (list.filter !== '') return transitionTo(replaceList(state, state.focus, { ...list, filter: '' }));
  if (state.isZoomed) return transitionTo({ ...state, isZoomed: false });
  const parent = getTabPane(state.focus);
  return transitionTo({ ...state, focus: parent === state.focus ? 'work' : parent });
}

export function openFilter(state: State): StateTransition {
  const { filter: before } = state.lists[state.focus];
  return transitionTo({
    ...state,
    overlay: { kind: 'filter', pane: state.focus, before, input: createInput(before) },
  });
}

export const openSearch = (state: State): StateTransition =>
  transitionTo({ ...state, overlay: { kind: 'search', of: getPreviewKey(state), input: EMPTY_INPUT } });

const findHits = (state: State, query: string): number[] => {
  const size = getPreviewSize(getLayout(state));
  const lines = size === null ? [] : (getPreview(state, state.focus, size.cells)?.lines ?? []);
  const wanted = query.toLowerCase();
  return lines.flatMap((line, index) => (toPlainText(line).toLowerCase().includes(wanted) ? [index] : []));
};

export const goToNextHit =
  (by: 1 | -1) =>
  (state: State): StateTransition => {
    const { search } = state;
    if (search === null) return transitionTo(state);
    const found = findHits(state, search.query);
    if (found.length === 0) return transitionTo(showMessage(state, `no line contains ${search.query}`));
    const next =
      by > 0
        ? (found.find((line) => line > search.at) ?? found[0]!)
        : (found.findLast((line) => line < search.at) ?? found.at(-1)!);
    const note = showMessage(state, `${search.query}: ${found.indexOf(next) + 1} of ${found.length}`);
    return transitionTo(scrollPreviewTo({ ...note, search: { ...search, at: next } }, next));
  };

/** Starts a search at the first visible line. */
export function searchPreview(state: State, query: string): StateTransition {
  if (query === '') return transitionTo({ ...state, search: null });
  return goToNextHit(1)({
    ...state,
    search: { of: getPreviewKey(state), query, at: getPreviewTop(state) - 1 },
  });
}

/** Selects the row of a run that has just been started. */
export function jumpToRun(state: State, run: { task_id: string; session_id: string } | null): State {
  if (run === null) return state;
  const isRacing = state.data.tasks.get(run.task_id)?.race != null;
  return { ...state, jump: { pane: 'work', id: isRacing ? run.session_id : run.task_id } };
}

/** Selects the row of a pending jump as soon as it is listed. A filter that hides it is cleared. */
export function finishJump(state: State): State {
  const { jump } = state;
  if (jump === null) return state;
  const list = state.lists[jump.pane];
  if (list.ids.includes(jump.id))
    return { ...replaceList(state, jump.pane, selectRow(list, jump.id)), jump: null };
  return list.filter === '' ? state : replaceList(state, jump.pane, { ...list, filter: '' });
}

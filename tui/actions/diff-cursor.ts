import { getPatchFiles, getPatchRows, type PatchFile } from '../panes/patch-lines.ts';
import { findDiffCursor, findShownWork, isFetchingShownWork } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { PatchRow } from '../state/patch.ts';
import type { ListedWork } from '../state/rows.ts';
import { getSelectedSession } from '../state/selection.ts';
import * as navigation from './navigation.ts';
import { getPreviewPage, getPreviewTop, getScroll, measurePreview, scrollPreviewTo } from './navigation.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

/** How many lines stay above a jump target. */
const CONTEXT_LINES = 3;

/** Returns the work whose patch has the keyboard; null for none. */
export function findOpenWork(state: State): { session: string; work: ListedWork } | null {
  const work = state.view === 'list' ? null : findShownWork(state);
  return work === null ? null : { session: getSelectedSession(state)!.session_id, work };
}

export function checkHasPatch(state: State): string | null {
  return state.view === 'list' ? 'Tab or Enter goes to the diff first' : checkShowsPatch(state);
}

/** Checks for a diff on the screen, also next to the list. */
export function checkShowsPatch(state: State): string | null {
  const work = findShownWork(state);
  if (work === null)
    return isFetchingShownWork(state) ? 'the diff is still being fetched' : 'v shows the diff';
  return getPatchRows(work).length === 0 ? 'it has no patch' : null;
}

/** Returns the row of the patch under the cursor; undefined without a cursor. */
export function getCursorRow(state: State): PatchRow | undefined {
  const at = findDiffCursor(state);
  const open = findOpenWork(state);
  return at === null || open === null ? undefined : getPatchRows(open.work)[at];
}

/** Puts the cursor on a row of the patch. A jump keeps some lines above its target on the screen. */
function placeCursor(state: State, row: number, { isJump = false } = {}): State {
  const open = findOpenWork(state);
  if (open === null) return state;
  const { session, work } = open;
  const at = Math.max(0, Math.min(row, getPatchRows(work).length - 1));
  const moved = { ...state, diffCursor: { session, head: work.head, at } };
  const { findLine, page } = measurePreview(moved);
  const [line, top] = [findLine(at), getScroll(moved).top];
  const isVisible = line >= top && line < top + page;
  const wanted = isJump && !isVisible ? line - Math.min(CONTEXT_LINES, page - 1) : getPreviewTop(moved);
  return scrollPreviewTo(moved, wanted);
}

/** Finds the first row of the patch on the screen, or below it. */
function findFirstVisibleRow(state: State, isWanted: (row: PatchRow) => boolean): number {
  const rows = getPatchRows(findOpenWork(state)!.work);
  const { findLine } = measurePreview(state);
  const top = getPreviewTop(state);
  const found = rows.findIndex((row, index) => isWanted(row) && findLine(index) >= top);
  return found === -1 ? rows.findIndex(isWanted) : found;
}

const isFileLine = ({ kind }: PatchRow): boolean => ['added', 'removed', 'same'].includes(kind);

/** Shows the cursor on the first line that can have a comment. */
export function showDiffCursor(state: State): StateTransition {
  const row = findFirstVisibleRow(state, isFileLine);
  if (row === -1) return transitionTo(showMessage(state, 'the patch has no line to comment on'));
  return transitionTo(
    showMessage(
      placeCursor(state, row, { isJump: true }),
      'j k choose the line, c writes the comment, Esc cancel',
    ),
  );
}

const moveDiffCursorBy = (state: State, by: number): State => {
  const at = findDiffCursor(state);
  return at === null ? state : placeCursor(state, at + by);
};

/** The rows where hunks or files start. */
const isStart = (what: 'hunk' | 'file', rows: readonly PatchRow[], index: number): boolean =>
  what === 'hunk'
    ? rows[index]!.kind === 'hunk'
    : rows[index]!.kind === 'file' && rows[index]!.text.startsWith('diff --git ');

/** Moves to the next or previous hunk or file, from the cursor or from the visible part. */
export const goToPatchStart =
  (what: 'hunk' | 'file', by: 1 | -1) =>
  (state: State): StateTransition => {
    const open = findOpenWork(state);
    if (open === null) return transitionTo(state);
    const rows = getPatchRows(open.work);
    const here = findDiffCursor(state);
    const from =
      here ?? (by > 0 ? findFirstVisibleRow(state, () => true) - 1 : findFirstVisibleRow(state, () => true));
    // The cursor of a hunk is on its first line, below the heading.
    const skipped = what === 'hunk' && here !== null && rows[here - 1]?.kind === 'hunk' ? 1 : 0;
    const starts = rows.flatMap((_, index) => (isStart(what, rows, index) ? [index] : []));
    const found = by > 0 ? starts.find((row) => row > from) : starts.findLast((row) => row < from - skipped);
    if (found === undefined)
      return transitionTo(showMessage(state, `there is no ${what} ${by > 0 ? 'below' : 'above'}`));
    return transitionTo(placeCursor(state, what === 'hunk' ? found + 1 : found, { isJump: true }));
  };

/** Finds the file of the shown diff that the cursor is in, without a cursor the one at the upper edge; 0 above the first. */
export function findCurrentFile(state: State, work: ListedWork): number {
  const files = getPatchFiles(work);
  const cursor = findDiffCursor(state);
  const { findLine } = measurePreview(state);
  const top = getPreviewTop(state);
  const found = files.findLastIndex(({ row }) => (cursor === null ? findLine(row) <= top : row <= cursor));
  return Math.max(0, found);
}

/** Goes to a file of the shown diff. */
export const goToFile = (state: State, { row }: PatchFile): State =>
  placeCursor(state, row, { isJump: true });

/** Lets scroll keys move the cursor in a diff that has one. */
const withDiffCursor =
  (by: (state: State) => number, move: (state: State) => StateTransition) =>
  (state: State): StateTransition =>
    findDiffCursor(state) === null ? move(state) : transitionTo(moveDiffCursorBy(state, by(state)));

export const moveUpOrCursor = withDiffCursor(() => -1, navigation.moveUp);
export const moveDownOrCursor = withDiffCursor(() => 1, navigation.moveDown);
export const moveToTopOrCursor = withDiffCursor(() => Number.NEGATIVE_INFINITY, navigation.moveToTop);
export const moveToBottomOrCursor = withDiffCursor(() => Number.MAX_SAFE_INTEGER, navigation.moveToBottom);
const pageUp = (state: State): number => -getPreviewPage(state);
export const pageListUpOrCursor = withDiffCursor(pageUp, navigation.pageListUp);
export const pageListDownOrCursor = withDiffCursor(getPreviewPage, navigation.pageListDown);
export const pageUpOrCursor = withDiffCursor(pageUp, navigation.scrollPageUp);
export const pageDownOrCursor = withDiffCursor(getPreviewPage, navigation.scrollPageDown);

import { findTabAt } from '../frame/tabs.ts';
import { findHit, findRowAt, type Hit } from '../layout/hit.ts';
import { getFilesSize, getLayout } from '../layout/layout.ts';
import { findFirstFile } from '../panes/file-lines.ts';
import { getPatchFiles } from '../panes/patch-lines.ts';
import { findShownWork } from '../state/details.ts';
import type { State } from '../state/model.ts';
import { findCurrentFile, goToFile } from './diff-cursor.ts';
import {
  focusPane,
  getPreviewTop,
  isCombinedList,
  isShowingAll,
  moveDown,
  moveUp,
  moveWithinList,
  openPreview,
  scrollPreviewTo,
} from './navigation.ts';
import { type StateTransition, transitionTo } from './transition.ts';

/** A click, or one step of the wheel, at a place counted from 0. */
export interface MouseInput {
  what: 'click' | 'wheel-up' | 'wheel-down';
  column: number;
  row: number;
}

/** Lines of a text per step of the wheel. */
const WHEEL_LINES = 3;

/** Handles the mouse: a click selects a row or a view and a second one opens the row, and the wheel moves what is below it. It never acts or answers. */
export function handleMouse(state: State, { what, ...place }: MouseInput): StateTransition {
  if (state.overlay !== null || state.armed !== null) return transitionTo(state);
  const hit = findHit(state, place);
  if (hit === null) return transitionTo(state);
  if (what === 'click') return click(state, hit, place.column);
  if ('tabs' in hit) return transitionTo(state);
  const isUp = what === 'wheel-up';
  if ('list' in hit) return (isUp ? moveUp : moveDown)({ ...state, view: 'list' });
  return transitionTo(scrollPreviewTo(state, getPreviewTop(state) + (isUp ? -WHEEL_LINES : WHEEL_LINES)));
}

function click(state: State, hit: Hit, column: number): StateTransition {
  if ('tabs' in hit) return clickTab(state, column);
  if ('fileLine' in hit) return clickFile(state, hit.fileLine);
  if ('text' in hit) return clickText(state);
  if (isCombinedList(state, hit.list))
    return transitionTo(state, { do: 'across', step: { to: 'line', line: hit.line } });
  const { ids, ...list } = state.lists[hit.list];
  return clickRow(state, findRowAt({ ...list, count: ids.length }, hit.line));
}

function clickTab(state: State, column: number): StateTransition {
  if (isShowingAll(state)) return transitionTo(state, { do: 'across', step: { to: 'tab', column } });
  const pane = findTabAt(state, [state], column);
  return pane === null ? transitionTo(state) : focusPane(pane)(state);
}

function clickRow(state: State, row: number | null): StateTransition {
  const { index } = state.lists[state.focus];
  const inList: State = { ...state, view: 'list' };
  if (row === null) return transitionTo(inList);
  if (state.view === 'list' && row === index) return openPreview(inList);
  return transitionTo(moveWithinList(inList, row - index));
}

function clickFile(state: State, line: number): StateTransition {
  const work = findShownWork(state);
  const rows = getFilesSize(getLayout(state))?.lines ?? 0;
  if (work === null || line < 0 || line >= rows) return transitionTo(state);
  const files = getPatchFiles(work);
  const file = files[findFirstFile(files.length, findCurrentFile(state, work), rows) + line];
  const inText: State = state.view === 'list' ? { ...state, view: 'text' } : state;
  return transitionTo(file === undefined ? state : goToFile(inText, file));
}

const clickText = (state: State): StateTransition =>
  transitionTo(
    state.view === 'list' && state.lists[state.focus].selected !== null ? { ...state, view: 'text' } : state,
  );

/** The meaning of the numbers of buttons, without a modifier. */
const WHATS: Readonly<Record<string, MouseInput['what']>> = { 0: 'click', 64: 'wheel-up', 65: 'wheel-down' };

/** Takes what a terminal reports about its mouse (SGR, mode 1006) out of its input, and returns the rest. */
export function takeMouse(input: string, onMouse: (input: MouseInput) => void): string {
  return input.replace(
    /\u001b\[<(\d+);(\d+);(\d+)([Mm])/g,
    (_, button: string, column: string, row: string, end: string) => {
      const what = end === 'M' ? WHATS[button] : undefined;
      if (what !== undefined) onMouse({ what, column: Number(column) - 1, row: Number(row) - 1 });
      return '';
    },
  );
}

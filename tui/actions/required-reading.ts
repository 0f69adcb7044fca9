import { getFactsSize, getLayout, getPreviewSize } from '../layout/layout.ts';
import { getFacts, getPreview } from '../panes/index.ts';
import type { ArmedKey, State } from '../state/model.ts';
import { isShowingRun } from '../state/selection.ts';
import { getPreviewTop, getScroll, scrollPageDown } from './navigation.ts';
import { type StateTransition, transitionTo } from './transition.ts';

/** Shows a run's work instead of its log, as a question about it does. */
const switchToWork = (state: State): State =>
  isShowingRun(state) ? { ...state, shown: { row: state.lists.work.selected!, as: 'work' } } : state;

/**
 * Reports whether the person has seen everything that a key agrees to. Next to a list all of it must be visible at
 * the same time, before and during the question. In the full view, lines scrolled past count as seen. In plain mode
 * only an opened item has been printed.
 */
export const isEssentialRead = (state: State, armed: ArmedKey): boolean =>
  isEssentialVisible(state, armed.binding) &&
  (state.view === 'full' || isEssentialVisible({ ...state, armed, message: null }, armed.binding));

function isEssentialVisible(given: State, binding: string): boolean {
  const state = switchToWork(given);
  const layout = getLayout(state);
  const factsSize = getFactsSize(layout);
  if (factsSize !== null && !state.isPlain) {
    const facts = getFacts(state, state.focus, factsSize.cells);
    const essential = facts?.essential[binding];
    return essential !== undefined && essential <= Math.min(facts!.lines.length, factsSize.lines);
  }
  const size = getPreviewSize(layout);
  if (size === null) return false;
  const preview = getPreview(state, state.focus, size.cells);
  const essential = preview?.essential?.[binding];
  if (essential === undefined) return false;
  if (state.isPlain) return state.view === 'full';
  const top = getPreviewTop(state);
  const isFromTop = state.view === 'full' || (top === 0 && getScroll(state).left === 0);
  return isFromTop && essential <= top + size.lines - (preview?.pinned?.length ?? 0);
}

/** Opens the preview over the whole screen; if it is already open, scrolls one page down. */
export function readFurther(state: State): StateTransition {
  if (state.view === 'full') return scrollPageDown(state);
  const opened: State = { ...switchToWork(state), view: 'full' };
  return transitionTo({ ...opened, scroll: { ...getScroll(opened), top: 0, left: 0 } });
}

import { getLayout, getPreviewSize } from '../layout/layout.ts';
import { getPreview } from '../panes/index.ts';
import type { Armed, State } from '../state/model.ts';
import { getPreviewTop, getScroll, scrollPageDown } from './navigation.ts';
import { type Transition, transitionTo } from './transition.ts';

/** Of a worker its work and not its log: what a question about it shows as soon as it is asked. */
const switchToWork = (state: State): State =>
  state.focus === 'workers' ? { ...state, workers: 'work' } : state;

/**
 * Whether the screen shows, of the selected item, what a key agrees to. In the list all of it at once, before and while it is
 * asked; where it is read, what was above has been seen. Without a screen only what was opened has been told.
 */
export const isEssentialRead = (state: State, armed: Armed): boolean =>
  isEssentialVisible(state, armed.binding) &&
  (state.view === 'full' || isEssentialVisible({ ...state, armed, message: null }, armed.binding));

function isEssentialVisible(given: State, binding: string): boolean {
  const state = switchToWork(given);
  const size = getPreviewSize(getLayout(state));
  if (size === null) return false;
  const preview = getPreview(state, state.focus, size.cells);
  const essential = preview?.essential?.[binding];
  if (essential === undefined) return false;
  if (state.isPlain) return state.view === 'full';
  const top = getPreviewTop(state);
  const isFromTop = state.view === 'full' || (top === 0 && getScroll(state).left === 0);
  return isFromTop && essential <= top + size.lines - (preview?.pinned?.length ?? 0);
}

/** Opens it over the whole screen, at its beginning; where that is done already, goes on reading. */
export function readFurther(state: State): Transition {
  if (state.view === 'full') return scrollPageDown(state);
  const opened: State = { ...switchToWork(state), view: 'full' };
  return transitionTo({ ...opened, scroll: { ...getScroll(opened), top: 0, left: 0 } });
}

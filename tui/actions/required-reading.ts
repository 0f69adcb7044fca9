import { layoutOf, previewSize } from '../layout/layout.ts';
import { previewOf } from '../panes/index.ts';
import type { Armed, State } from '../state/model.ts';
import { pageDown, scrollOf, topOf } from './navigation.ts';
import { type Step, step } from './transition.ts';

/** Of a worker its work and not its log: what a question about it shows as soon as it is asked. */
const withWork = (state: State): State => (state.focus === 'workers' ? { ...state, workers: 'work' } : state);

/**
 * Whether the screen shows, of the selected item, what a key agrees to. In the list all of it at once, before and while it is
 * asked; where it is read, what was above has been seen. Without a screen only what was opened has been told.
 */
export const isRead = (state: State, armed: Armed): boolean =>
  shows(state, armed.binding) &&
  (state.view === 'full' || shows({ ...state, armed, message: null }, armed.binding));

function shows(given: State, binding: string): boolean {
  const state = withWork(given);
  const size = previewSize(layoutOf(state));
  if (size === null) return false;
  const preview = previewOf(state, state.focus, size.cells);
  const essential = preview?.essential?.[binding];
  if (essential === undefined) return false;
  if (state.isPlain) return state.view === 'full';
  const top = topOf(state);
  const isFromTop = state.view === 'full' || (top === 0 && scrollOf(state).left === 0);
  return isFromTop && essential <= top + size.lines - (preview?.pinned?.length ?? 0);
}

/** Opens it over the whole screen, at its beginning; where that is done already, goes on reading. */
export function readOn(state: State): Step {
  if (state.view === 'full') return pageDown(state);
  const opened: State = { ...withWork(state), view: 'full' };
  return step({ ...opened, scroll: { ...scrollOf(opened), top: 0, left: 0 } });
}

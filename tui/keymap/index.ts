import type { State } from '../state/model.ts';
import { type Binding, isLost } from './binding.ts';
import { TALKING } from './bus-keys.ts';
import { MOVING } from './navigation-keys.ts';
import { PROGRAM } from './program-keys.ts';
import { ACTING } from './work-keys.ts';

export { type Binding, GROUPS } from './binding.ts';

/** Every key, in the order of the hint bar. */
export const KEYMAP: readonly Binding[] = [...ACTING, ...TALKING, ...MOVING, ...PROGRAM];

/** Whether a binding belongs to where the keyboard is. */
export const isHere = (binding: Binding, state: Pick<State, 'focus' | 'view'>): boolean =>
  (binding.panes?.includes(state.focus) ?? true) && (binding.view ?? state.view) === state.view;

/** Why a binding cannot be used now; null when it can. */
export const reasonAgainst = (binding: Binding, state: State): string | null =>
  isLost(state) && !binding.offline ? 'the engine is away; u starts it' : (binding.when?.(state) ?? null);

export const bindingFor = (key: string, state: State): Binding | undefined =>
  KEYMAP.find((each) => each.keys.includes(key) && isHere(each, state));

import type { State } from '../state/model.ts';
import { type Binding, isEngineGone } from './binding.ts';
import { BUS_KEYS } from './bus-keys.ts';
import { MEMORY_KEYS } from './memory-keys.ts';
import { NAVIGATION_KEYS } from './navigation-keys.ts';
import { PROGRAM_KEYS } from './program-keys.ts';
import { USAGE_KEYS } from './usage-keys.ts';
import { WORK_KEYS } from './work-keys.ts';

export { type Binding, KEY_GROUPS } from './binding.ts';

/** Every key, in the order of the hint bar. */
export const KEYMAP: readonly Binding[] = [
  ...WORK_KEYS,
  ...BUS_KEYS,
  ...USAGE_KEYS,
  ...MEMORY_KEYS,
  ...NAVIGATION_KEYS,
  ...PROGRAM_KEYS,
];

/** Whether a binding belongs to the focused pane and its view. */
export const isBindingHere = (binding: Binding, state: Pick<State, 'focus' | 'view'>): boolean =>
  (binding.panes?.includes(state.focus) ?? true) && (binding.view ?? state.view) === state.view;

/** Why a binding does nothing now; null when it works. */
export const getDisabledReason = (binding: Binding, state: State): string | null =>
  isEngineGone(state) && !binding.offline
    ? 'the engine is away; u starts it'
    : (binding.disabledReason?.(state) ?? null);

export const findBinding = (key: string, state: State): Binding | undefined =>
  KEYMAP.find((each) => each.keys.includes(key) && isBindingHere(each, state));

import type { State } from '../state/model.ts';
import { findWorkItem } from '../state/work-items.ts';
import { isEngineGone, type KeyBinding } from './binding.ts';
import { BUS_KEYS } from './bus-keys.ts';
import { LIST_KEYS } from './list-keys.ts';
import { MARK_KEYS } from './mark-keys.ts';
import { MEMORY_KEYS } from './memory-keys.ts';
import { NAVIGATION_KEYS } from './navigation-keys.ts';
import { PROGRAM_KEYS } from './program-keys.ts';
import { RUNNER_KEYS } from './runner-keys.ts';
import { STATS_KEYS } from './stats-keys.ts';
import { USAGE_KEYS } from './usage-keys.ts';
import { WORK_KEYS } from './work-keys.ts';

export { KEY_GROUPS, type KeyBinding } from './binding.ts';

/** Every key, in the order of the hint bar. */
export const KEYMAP: readonly KeyBinding[] = [
  ...WORK_KEYS,
  ...BUS_KEYS,
  ...USAGE_KEYS,
  ...MEMORY_KEYS,
  ...STATS_KEYS,
  ...RUNNER_KEYS,
  ...MARK_KEYS,
  ...LIST_KEYS,
  ...NAVIGATION_KEYS,
  ...PROGRAM_KEYS,
];

/** Reports whether a binding belongs to what has the keyboard, and to the kind of the selected row. */
export const isBindingHere = (
  binding: KeyBinding,
  state: Pick<State, 'focus' | 'view' | 'data' | 'lists'>,
): boolean =>
  (binding.panes?.includes(state.focus) ?? true) &&
  (binding.view === undefined || (binding.view === 'list') === (state.view === 'list')) &&
  (binding.rows === undefined || state.focus !== 'work' || isAboutRow(binding, state));

/** Reports whether the selected row is of the kinds that a binding is about; for several rows, any marked one. */
function isAboutRow(
  { rows, bulk }: KeyBinding,
  { data, lists, view }: Pick<State, 'data' | 'lists' | 'view'>,
): boolean {
  const { marks, selected } = lists.work;
  const ids = bulk !== undefined && view === 'list' && marks.size > 0 ? [...marks.keys()] : [selected ?? ''];
  return ids.some((id) => {
    const kind = findWorkItem(data, id)?.kind;
    return kind !== undefined && rows!.includes(kind);
  });
}

/** Explains why a binding does nothing now; null if it works. */
export const getDisabledReason = (binding: KeyBinding, state: State): string | null =>
  isEngineGone(state) && !binding.offline
    ? 'the engine is not running; u starts it'
    : (binding.disabledReason?.(state) ?? binding.waitsFor?.(state)?.text ?? null);

export const findBindingById = (id: string): KeyBinding | undefined => KEYMAP.find((each) => each.id === id);

// A person's keys do not change, so their keymap is built once.
const ownKeymaps = new WeakMap<State['preferences']['keys'], readonly KeyBinding[]>();

/** Returns every key, with a person's own keys instead of the built-in ones. */
export function getKeymap({ preferences: { keys } }: Pick<State, 'preferences'>): readonly KeyBinding[] {
  const known = ownKeymaps.get(keys);
  if (known !== undefined) return known;
  const own = KEYMAP.map((each) => {
    const given = keys[each.id];
    return given === undefined ? each : { ...each, keys: given };
  });
  ownKeymaps.set(keys, own);
  return own;
}

export const findBinding = (key: string, state: State): KeyBinding | undefined =>
  getKeymap(state).find((each) => each.keys.includes(key) && isBindingHere(each, state));

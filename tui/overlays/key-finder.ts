import type { StateTransition } from '../actions/transition.ts';
import { transitionTo } from '../actions/transition.ts';
import { getDisabledReason, getKeymap, isBindingHere, KEY_GROUPS, type KeyBinding } from '../keymap/index.ts';
import { formatKey } from '../keymap/name-key.ts';
import { runBinding } from '../keymap/run-binding.ts';
import { editInput } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { LineInput, OverlayState } from '../state/overlays.ts';
import { markHits, padText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** A binding of this many panes belongs to none of them. */
const MANY_PANES = 5;

type Finder = Extract<OverlayState, { kind: 'help' | 'palette' }>;

/**
 * Lists the bindings that match the query, those of the focused pane first. Help searches all of them, the palette
 * only the available ones.
 */
export function findBindings(state: State, { kind, input }: Finder): readonly KeyBinding[] {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const keymap = getKeymap(state);
  const isOwnKey = (each: KeyBinding): boolean =>
    each.panes?.includes(state.focus) === true && isBindingHere(each, state);
  const all =
    kind === 'help' ? keymap : keymap.filter((each) => isBindingHere(each, state) && each.id !== 'palette');
  // A key of many panes, such as Enter, is not the pane's own.
  const own = all.filter((each) => isOwnKey(each) && (each.panes?.length ?? 0) < MANY_PANES);
  const others = all.filter((each) => !own.includes(each));
  const ordered = [...own, ...KEY_GROUPS.flatMap((group) => others.filter((each) => each.group === group))];
  return ordered.filter((each) => {
    const text = `${each.group} ${each.label} ${each.about} ${each.keys.join(' ')}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function handleFinderKey(state: State, overlay: Finder, key: string, at: number): StateTransition {
  const all = findBindings(state, overlay);
  const highlightBinding = (index: number): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, index: Math.max(0, Math.min(index, all.length - 1)) } });
  switch (key) {
    case 'esc':
      return transitionTo({ ...state, overlay: null });
    case 'up':
    case 'ctrl+p':
      return highlightBinding(overlay.index - 1);
    case 'down':
    case 'ctrl+n':
      return highlightBinding(overlay.index + 1);
    case 'pageup':
      return highlightBinding(overlay.index - 10);
    case 'pagedown':
      return highlightBinding(overlay.index + 10);
    case 'enter': {
      const chosen = all[overlay.index];
      if (chosen === undefined) return transitionTo(state);
      const closed = { ...state, overlay: null };
      if (isBindingHere(chosen, state)) return runBinding(closed, chosen, at);
      // A key of another pane only goes there, so that the person first sees the row it would act on.
      const pane = chosen.panes?.[0] ?? state.focus;
      return transitionTo({ ...closed, focus: pane, view: chosen.view ?? 'list' });
    }
    default: {
      const input = editInput(overlay.input, key);
      return input === null
        ? transitionTo(state)
        : transitionTo({ ...state, overlay: { ...overlay, input, index: 0 } });
    }
  }
}

export const setFinderQuery = (state: State, overlay: Finder, input: LineInput): State => ({
  ...state,
  overlay: { ...overlay, input, index: 0 },
});

const KEY_CELLS = 12;

/** The keys to type, including the second key that confirms. */
export const formatBindingKeys = ({ keys, confirm, asksOnlyOnLoss }: KeyBinding): string => {
  const [first = '', second] = keys.map(formatKey);
  if (confirm !== undefined && asksOnlyOnLoss !== true)
    return confirm.map((key) => `${first} ${key}`).join(', ');
  return second === undefined ? first : `${first} ${second}`;
};

/** Renders one row for each binding, with its group in front, scrolled to the highlighted one. */
export function renderFinderLines(state: State, overlay: Finder, cells: number, rows: number): StyledLine[] {
  const all = findBindings(state, overlay);
  const top = Math.max(0, Math.min(overlay.index - Math.floor(rows / 2), all.length - rows));
  const query = overlay.input.value.trim();
  return all.slice(top, top + rows).map((each, index) => {
    const at = top + index;
    const group = at === top || all[at - 1]?.group !== each.group ? each.group : '';
    const reason = getDisabledReason(each, state);
    const keys = formatBindingKeys(each);
    const about = reason !== null && isBindingHere(each, state) ? `${each.about} (${reason})` : each.about;
    const line: StyledLine = [
      span(padText(group, 11), 'dim'),
      span(padText(keys, KEY_CELLS), 'key'),
      span(about, reason !== null && isBindingHere(each, state) ? 'dim' : undefined),
    ];
    const text = line.map((part) => part.text).join('');
    return at === overlay.index ? [span(padText(text, cells), 'selected')] : markHits(line, query);
  });
}

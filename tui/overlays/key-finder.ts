import type { Transition } from '../actions/transition.ts';
import { transitionTo } from '../actions/transition.ts';
import { type Binding, getDisabledReason, isBindingHere, KEY_GROUPS, KEYMAP } from '../keymap/index.ts';
import { runBinding } from '../keymap/run-binding.ts';
import { editInput } from '../state/input.ts';
import type { Input, Overlay, State } from '../state/model.ts';
import { markHits, padText } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';

type Finder = Extract<Overlay, { kind: 'help' | 'palette' }>;

/** The bindings that match the query. Help searches all of them, the palette those of the focused pane. */
export function findBindings(state: State, { kind, input }: Finder): readonly Binding[] {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all =
    kind === 'help' ? KEYMAP : KEYMAP.filter((each) => isBindingHere(each, state) && each.id !== 'palette');
  const ranked = KEY_GROUPS.flatMap((group) => all.filter((each) => each.group === group));
  const ordered =
    kind === 'help' ? ranked : [...all.filter((each) => each.panes), ...all.filter((each) => !each.panes)];
  return ordered.filter((each) => {
    const text = `${each.group} ${each.label} ${each.about} ${each.keys.join(' ')}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function handleFinderKey(state: State, overlay: Finder, key: string, at: number): Transition {
  const all = findBindings(state, overlay);
  const highlightBinding = (index: number): Transition =>
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
      // A key of another pane only goes there, so that the row it would act on is seen first.
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

export const setFinderQuery = (state: State, overlay: Finder, input: Input): State => ({
  ...state,
  overlay: { ...overlay, input, index: 0 },
});

const KEY_CELLS = 12;

export const formatKey = (key: string): string =>
  ({
    enter: 'Enter',
    esc: 'Esc',
    tab: 'Tab',
    'shift+tab': 'S-Tab',
    pageup: 'PgUp',
    pagedown: 'PgDn',
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    home: 'Home',
    end: 'End',
    space: 'Space',
  })[key] ?? key.replace(/^ctrl\+(.)$/, (_, letter: string) => `C-${letter}`);

/** The keys to type, including the second key that confirms. */
export const formatBindingKeys = ({ keys, confirm }: Binding): string => {
  const [first = '', second] = keys.map(formatKey);
  if (confirm !== undefined) return confirm.map((key) => `${first} ${key}`).join(', ');
  return second === undefined ? first : `${first} ${second}`;
};

/** One row for each binding, with its group in front, scrolled to the highlighted one. */
export function renderFinderLines(state: State, overlay: Finder, cells: number, rows: number): Line[] {
  const all = findBindings(state, overlay);
  const top = Math.max(0, Math.min(overlay.index - Math.floor(rows / 2), all.length - rows));
  const query = overlay.input.value.trim();
  return all.slice(top, top + rows).map((each, index) => {
    const at = top + index;
    const group = at === top || all[at - 1]?.group !== each.group ? each.group : '';
    const reason = getDisabledReason(each, state);
    const keys = formatBindingKeys(each);
    const about = reason !== null && isBindingHere(each, state) ? `${each.about} (${reason})` : each.about;
    const line: Line = [
      span(padText(group, 11), 'dim'),
      span(padText(keys, KEY_CELLS), 'key'),
      span(about, reason !== null && isBindingHere(each, state) ? 'dim' : undefined),
    ];
    const text = line.map((part) => part.text).join('');
    return at === overlay.index ? [span(padText(text, cells), 'selected')] : markHits(line, query);
  });
}

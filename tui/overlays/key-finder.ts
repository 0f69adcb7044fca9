import type { StateTransition } from '../actions/transition.ts';
import { showMessage, transitionTo } from '../actions/transition.ts';
import { getDisabledReason, getKeymap, isBindingHere, KEY_GROUPS, type KeyBinding } from '../keymap/index.ts';
import { formatKey } from '../keymap/name-key.ts';
import { describeBindingPlace } from '../keymap/place.ts';
import { runBinding } from '../keymap/run-binding.ts';
import { editInput } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { LineInput, OverlayState } from '../state/overlays.ts';
import { markHits, padText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** A binding of this many panes belongs to none of them. */
const MANY_PANES = 5;

type Finder = Extract<OverlayState, { kind: 'help' | 'palette' }>;

/** How well a binding matches a query; the smallest is the best, and null does not match. */
function rankMatch(
  { id, label, aliases = [], about, group, keys }: KeyBinding,
  query: string,
): number | null {
  const names = [label, id, id.replace(/^pane-/, ''), ...aliases].map((name) => name.toLowerCase());
  if (query === '') return 0;
  if (names.includes(query)) return 0;
  if (names.some((name) => name.startsWith(query))) return 1;
  const words = query.split(/\s+/);
  const isIn = (text: string): boolean => words.every((word) => text.includes(word));
  if (isIn(names.join(' '))) return 2;
  return isIn(`${group} ${names.join(' ')} ${about} ${keys.join(' ')}`.toLowerCase()) ? 3 : null;
}

/** Lists the bindings that match the query, the best first, and among equal ones those of the selected row. */
export function findBindings(state: State, { kind, input }: Finder): readonly KeyBinding[] {
  const query = input.value.toLowerCase().trim();
  const keymap = getKeymap(state);
  const isOwnKey = (each: KeyBinding): boolean =>
    each.panes?.includes(state.focus) === true && isBindingHere(each, state);
  const all =
    kind === 'help' ? keymap : keymap.filter((each) => each.id !== 'palette' && each.group !== 'Move');
  // A key of many panes, such as Enter, is not the pane's own.
  const own = all.filter((each) => isOwnKey(each) && (each.panes?.length ?? 0) < MANY_PANES);
  const others = all.filter((each) => !own.includes(each));
  const here =
    kind === 'help'
      ? others
      : others.toSorted(
          (one, other) => Number(isBindingHere(other, state)) - Number(isBindingHere(one, state)),
        );
  const ordered =
    kind === 'help'
      ? [...own, ...KEY_GROUPS.flatMap((group) => here.filter((each) => each.group === group))]
      : [...own, ...here];
  return ordered
    .flatMap((each) => {
      const rank = rankMatch(each, query);
      return rank === null ? [] : [{ each, rank }];
    })
    .sort((one, other) => one.rank - other.rank)
    .map(({ each }) => each);
}

/** Explains why a binding does nothing now: what it waits for, or where it works; null if it works. */
const explainWhyNot = (state: State, binding: KeyBinding): string | null =>
  isBindingHere(binding, state) ? getDisabledReason(binding, state) : `for ${describeBindingPlace(binding)}`;

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
      const pane = chosen.panes?.[0] ?? state.focus;
      if (pane === state.focus && chosen.rows !== undefined)
        return transitionTo(
          showMessage(closed, `${chosen.label}: select one of ${describeBindingPlace(chosen)}`),
        );
      // A key of another pane only goes there, so that the person first sees the row it would act on.
      return transitionTo({ ...closed, focus: pane, view: chosen.view === 'text' ? 'full' : 'list' });
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

/** Renders one row for each binding, with its group or its name in front, scrolled to the highlighted one. */
export function renderFinderLines(state: State, overlay: Finder, cells: number, rows: number): StyledLine[] {
  const all = findBindings(state, overlay);
  const top = Math.max(0, Math.min(overlay.index - Math.floor(rows / 2), all.length - rows));
  const query = overlay.input.value.trim();
  return all.slice(top, top + rows).map((each, index) => {
    const at = top + index;
    const group = at === top || all[at - 1]?.group !== each.group ? each.group : '';
    const reason = overlay.kind === 'help' && !isBindingHere(each, state) ? null : explainWhyNot(state, each);
    const keys = formatBindingKeys(each);
    const isHelp = overlay.kind === 'help';
    const about =
      reason === null ? each.about : isHelp ? `${each.about} (${reason})` : `(${reason}) ${each.about}`;
    const line: StyledLine = [
      overlay.kind === 'help' ? span(padText(group, 11), 'dim') : span(padText(each.label, 17), 'strong'),
      span(padText(keys, KEY_CELLS), 'key'),
      span(about, reason === null ? undefined : 'dim'),
    ];
    const text = line.map((part) => part.text).join('');
    return at === overlay.index ? [span(padText(text, cells), 'selected')] : markHits(line, query);
  });
}

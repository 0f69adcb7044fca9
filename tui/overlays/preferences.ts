import { listChoices } from '../actions/preferences.ts';
import { type StateTransition, transitionTo } from '../actions/transition.ts';
import type { State } from '../state/model.ts';
import { clampNumber } from '../state/numbers.ts';
import type { OverlayState } from '../state/overlays.ts';
import { padText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

type PreferencesOverlay = Extract<OverlayState, { kind: 'preferences' }>;

const NAME_CELLS = 18;
const VALUE_CELLS = 14;

export function handlePreferencesKey(
  state: State,
  overlay: PreferencesOverlay,
  key: string,
): StateTransition {
  const choices = listChoices(state);
  const goTo = (index: number): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, index: clampNumber(index, 0, choices.length - 1) } });
  if (key === 'j' || key === 'down') return goTo(overlay.index + 1);
  if (key === 'k' || key === 'up') return goTo(overlay.index - 1);
  if (key === 'enter' || key === 'space') return choices[overlay.index]?.change(state) ?? transitionTo(state);
  return transitionTo(key === 'esc' || key === 'q' || key === ',' ? { ...state, overlay: null } : state);
}

/** Renders one row for each choice, scrolled to the selected one. */
export function renderPreferences(
  state: State,
  overlay: PreferencesOverlay,
  { cells, rows }: { cells: number; rows: number },
): StyledLine[] {
  const choices = listChoices(state);
  const top = clampNumber(overlay.index - Math.floor(rows / 2), 0, Math.max(0, choices.length - rows));
  return choices.slice(top, top + rows).map(({ name, value, about }, index): StyledLine => {
    const line = [
      span(padText(name, NAME_CELLS), 'key'),
      span(padText(value, VALUE_CELLS)),
      span(about, 'dim'),
    ];
    const text = line.map((part) => part.text).join('');
    return top + index === overlay.index ? [span(padText(text, cells), 'selected')] : line;
  });
}

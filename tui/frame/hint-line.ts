import { isAboutMarks } from '../keymap/bulk.ts';
import { getDisabledReason, getKeymap, isBindingHere, type KeyBinding } from '../keymap/index.ts';
import { formatKey } from '../keymap/name-key.ts';
import type { State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { type StyledLine, type StyledSpan, span } from '../text/theme.ts';

const rankBinding = (binding: KeyBinding): number =>
  binding.panes || binding.hasUse ? 0 : binding.id === 'help' || binding.id === 'quit' ? 2 : 1;

const renderHint = (binding: KeyBinding, isDisabled: boolean, marked = 0): StyledSpan[] => [
  span(` ${formatKey(binding.keys[0]!)}`, isDisabled ? 'dim' : 'key'),
  span(` ${binding.label}${marked === 0 ? '' : ` ${marked}`} `, isDisabled ? 'dim' : undefined),
];

/**
 * Renders the keys that work in the focused pane. `? help` and `q quit` are always there, then as many of the others
 * as fit. Disabled keys make room for working ones.
 */
export function renderHintLine(state: State): StyledLine {
  const here = getKeymap(state).filter(
    (each) => !each.isHiddenInHints && (each.hasUse?.(state) ?? true) && isBindingHere(each, state),
  );
  const ordered = here.toSorted((one, other) => rankBinding(one) - rankBinding(other));
  const last = ordered.filter((each) => rankBinding(each) === 2).flatMap((each) => renderHint(each, false));
  const measureSpans = (spans: readonly StyledSpan[]): number =>
    spans.reduce((sum, each) => sum + measureCells(each.text), 0);
  let room = state.size.columns - measureSpans(last);
  const offered = ordered
    .filter((each) => rankBinding(each) < 2)
    .map((binding) => {
      const marked = isAboutMarks(binding, state) ? state.lists[state.focus].marks.size : 0;
      // A key that only waits for an answer will act.
      const isWaiting = binding.waitsFor?.(state) != null && binding.disabledReason?.(state) == null;
      const isDisabled = marked === 0 && !isWaiting && getDisabledReason(binding, state) !== null;
      return { rank: rankBinding(binding), isDisabled, spans: renderHint(binding, isDisabled, marked) };
    });
  const fitting = new Set<readonly StyledSpan[]>();
  for (const { spans } of offered.toSorted(
    (one, other) => one.rank - other.rank || Number(one.isDisabled) - Number(other.isDisabled),
  )) {
    if (measureSpans(spans) > room) continue;
    fitting.add(spans);
    room -= measureSpans(spans);
  }
  return [...offered.flatMap(({ spans }) => (fitting.has(spans) ? spans : [])), ...last];
}

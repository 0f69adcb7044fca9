import { type Binding, getDisabledReason, isBindingHere, KEYMAP } from '../keymap/index.ts';
import { formatKey } from '../overlays/key-finder.ts';
import type { State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { type Line, type Span, span } from '../text/theme.ts';

const rankBinding = (binding: Binding): number =>
  binding.panes ? 0 : binding.id === 'help' || binding.id === 'quit' ? 2 : 1;

const renderHint = (binding: Binding, isDisabled: boolean): Span[] => [
  span(` ${formatKey(binding.keys[0]!)}`, isDisabled ? 'dim' : 'key'),
  span(` ${binding.label} `, isDisabled ? 'dim' : undefined),
];

/**
 * The keys that work in the focused pane. `? help` and `q quit` are always there, then as many of the others as fit.
 * Disabled keys make room for those that work.
 */
export function renderHintLine(state: State): Line {
  const here = KEYMAP.filter((each) => !each.quiet && isBindingHere(each, state));
  const ordered = here.toSorted((one, other) => rankBinding(one) - rankBinding(other));
  const last = ordered.filter((each) => rankBinding(each) === 2).flatMap((each) => renderHint(each, false));
  const measureSpans = (spans: readonly Span[]): number =>
    spans.reduce((sum, each) => sum + measureCells(each.text), 0);
  let room = state.size.columns - measureSpans(last);
  const offered = ordered
    .filter((each) => rankBinding(each) < 2)
    .map((binding) => {
      const isDisabled = getDisabledReason(binding, state) !== null;
      return { rank: rankBinding(binding), isDisabled, spans: renderHint(binding, isDisabled) };
    });
  const fitting = new Set<readonly Span[]>();
  for (const { spans } of offered.toSorted(
    (one, other) => one.rank - other.rank || Number(one.isDisabled) - Number(other.isDisabled),
  )) {
    if (measureSpans(spans) > room) continue;
    fitting.add(spans);
    room -= measureSpans(spans);
  }
  return [...offered.flatMap(({ spans }) => (fitting.has(spans) ? spans : [])), ...last];
}

import { type Binding, isHere, KEYMAP, reasonAgainst } from '../keymap/index.ts';
import { shownKey } from '../overlays/key-finder.ts';
import type { State } from '../state/model.ts';
import { width } from '../text/text.ts';
import { type Line, type Span, span } from '../text/theme.ts';

const rank = (binding: Binding): number =>
  binding.panes ? 0 : binding.id === 'help' || binding.id === 'quit' ? 2 : 1;

const shown = (binding: Binding, isDisabled: boolean): Span[] => [
  span(` ${shownKey(binding.keys[0]!)}`, isDisabled ? 'dim' : 'key'),
  span(` ${binding.label} `, isDisabled ? 'dim' : undefined),
];

/**
 * The keys of where the keyboard is. `? help` and `q quit` are always there; of the others as many as fit, and what does
 * nothing with this row gives way to what does.
 */
export function hintLine(state: State): Line {
  const here = KEYMAP.filter((each) => !each.quiet && isHere(each, state));
  const ordered = here.toSorted((one, other) => rank(one) - rank(other));
  const last = ordered.filter((each) => rank(each) === 2).flatMap((each) => shown(each, false));
  const cells = (spans: readonly Span[]): number => spans.reduce((sum, each) => sum + width(each.text), 0);
  let room = state.size.columns - cells(last);
  const offered = ordered
    .filter((each) => rank(each) < 2)
    .map((binding) => {
      const isDisabled = reasonAgainst(binding, state) !== null;
      return { rank: rank(binding), isDisabled, spans: shown(binding, isDisabled) };
    });
  const fitting = new Set<readonly Span[]>();
  for (const { spans } of offered.toSorted(
    (one, other) => one.rank - other.rank || Number(one.isDisabled) - Number(other.isDisabled),
  )) {
    if (cells(spans) > room) continue;
    fitting.add(spans);
    room -= cells(spans);
  }
  return [...offered.flatMap(({ spans }) => (fitting.has(spans) ? spans : [])), ...last];
}

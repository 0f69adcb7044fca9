import type { PaneId } from '../pane-ids.ts';
import { isCombinedPane } from '../pane-ids.ts';
import { getPane, getTabPane, PANES } from '../panes/index.ts';
import type { State } from '../state/model.ts';
import { type StyledLine, span } from '../text/theme.ts';

interface Tab {
  id: PaneId;
  isFocused: boolean;
  text: string;
}

/** Lists the tabs of the panes with their counts. If not all fit, the last ones shrink to their digits. */
function listTabs(state: State, states: readonly State[]): Tab[] {
  const tabs = PANES.map((pane) => {
    const isCombined = states.length > 1 && isCombinedPane(pane.id);
    const counted = isCombined ? states : [state];
    const count = counted.reduce((sum, each) => sum + pane.countUnfinished(each.data), 0);
    const isFocused = pane.id === getTabPane(state.focus);
    const within = isFocused && pane.id !== state.focus ? ` · ${getPane(state.focus).title}` : '';
    const counts = `${count === 0 && pane.isQuietAtZero ? '' : ` ${count}`}${isCombined ? '' : (pane.describeTab?.(state) ?? '')}`;
    // Nothing has been fetched yet, so 0 would be wrong.
    const shown = counted.every((each) => each.link.phase === 'connecting')
      ? pane.isQuietAtZero
        ? ''
        : ' …'
      : counts;
    return {
      id: pane.id,
      isFocused,
      short: `${pane.digit}${shown.replace(' ', ':')}`,
      text: `${pane.digit} ${pane.title}${shown}${within}`,
    };
  });
  let room = tabs.reduce((sum, each) => sum + each.text.length + 2, 0);
  for (const tab of tabs.toReversed()) {
    if (room <= state.size.columns || tab.isFocused) continue;
    room -= tab.text.length - tab.short.length;
    tab.text = tab.short;
  }
  return tabs.map(({ isFocused, text, ...tab }, index) => {
    const gap = index === tabs.length - 1 ? '' : ' ';
    return { ...tab, isFocused, text: isFocused ? `[${text}]${gap}` : `${text}${gap}${gap}` };
  });
}

/**
 * Renders the panes with their counts. The focused one is in brackets.
 * @param states of all workspaces whose rows are in the lists; other text of a tab is about one
 */
export const renderTabsLine = (state: State, states: readonly State[] = [state]): StyledLine => [
  span(' '),
  ...listTabs(state, states).map(({ isFocused, text }) => span(text, isFocused ? 'title' : undefined)),
];

/** Finds the pane whose tab is at a column; null for none. */
export function findTabAt(state: State, states: readonly State[], column: number): PaneId | null {
  let left = 1;
  for (const { id, text } of listTabs(state, states)) {
    if (column >= left && column < left + text.trimEnd().length) return id;
    left += text.length;
  }
  return null;
}

import type { PaneId, State } from '../state/model.ts';
import { asksPane } from './asks.ts';
import { busPane } from './bus.ts';
import { decisionsPane } from './decisions.ts';
import { deliveriesPane } from './deliveries.ts';
import { eventsPane } from './events.ts';
import { locksPane } from './locks.ts';
import type { AnyPane, Preview } from './pane.ts';
import { peersPane } from './peers.ts';
import { tasksPane } from './tasks.ts';
import { workersPane } from './workers.ts';

/** The panes in the order of their tabs. */
export const PANES: readonly AnyPane[] = [
  tasksPane,
  decisionsPane,
  asksPane,
  workersPane,
  busPane,
  eventsPane,
  deliveriesPane,
];

/** Lists without a tab of their own. */
const LISTS: readonly AnyPane[] = [peersPane, locksPane];

const byId = Object.fromEntries([...PANES, ...LISTS].map((each) => [each.id, each])) as Record<
  PaneId,
  AnyPane
>;

export const getPane = (id: PaneId): AnyPane => byId[id];

/** The pane whose tab is active while `id` has the focus: itself, or the pane that it belongs to. */
export const getTabPane = (id: PaneId): PaneId => getPane(id).parent ?? id;

export function getSelectedRow(state: State, id: PaneId): object | undefined {
  const { selected } = state.lists[id];
  return selected === null ? undefined : getPane(id).findRow(state.data, selected);
}

// States are immutable, so each preview is rendered once for both scrolling and drawing.
const known = new WeakMap<State, { id: PaneId; cells: number; preview: Preview | null }>();

/** The preview of a pane's selected row; null when nothing is selected. */
export function getPreview(state: State, id: PaneId, cells: number): Preview | null {
  const last = known.get(state);
  if (last?.id === id && last.cells === cells) return last.preview;
  const row = getSelectedRow(state, id);
  const preview = row === undefined ? null : getPane(id).renderPreview(state, row as never, cells);
  known.set(state, { id, cells, preview });
  return preview;
}

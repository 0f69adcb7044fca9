import type { PaneId } from '../pane-ids.ts';
import type { State } from '../state/model.ts';
import { asksPane } from './asks.ts';
import { busPane } from './bus.ts';
import { decisionsPane } from './decisions.ts';
import { deliveriesPane } from './deliveries.ts';
import { eventsPane } from './events.ts';
import { locksPane } from './locks.ts';
import { memoriesPane } from './memories.ts';
import type { AnyPane, PanePreview } from './pane.ts';
import { peersPane } from './peers.ts';
import { statsPane } from './stats.ts';
import { tasksPane } from './tasks.ts';
import { usagePane } from './usage.ts';
import { workersPane } from './workers.ts';

/** The panes in the order of their tabs. */
export const PANES: readonly AnyPane[] = [
  tasksPane,
  decisionsPane,
  asksPane,
  workersPane,
  busPane,
  usagePane,
  eventsPane,
  deliveriesPane,
];

/** Lists without a tab. */
const LISTS_WITHOUT_TAB: readonly AnyPane[] = [peersPane, locksPane, memoriesPane, statsPane];

const PANES_BY_ID = Object.fromEntries(
  [...PANES, ...LISTS_WITHOUT_TAB].map((each) => [each.id, each]),
) as Record<PaneId, AnyPane>;

export const getPane = (id: PaneId): AnyPane => PANES_BY_ID[id];

/** Returns the pane whose tab is active while `id` has the focus: itself, or the pane that it belongs to. */
export const getTabPane = (id: PaneId): PaneId => getPane(id).parent ?? id;

export function getSelectedRow(state: State, id: PaneId): object | undefined {
  const { selected } = state.lists[id];
  return selected === null ? undefined : getPane(id).findRow(state.data, selected);
}

// States are immutable, so each preview is rendered once for both scrolling and drawing.
const previewCache = new WeakMap<State, { id: PaneId; cells: number; preview: PanePreview | null }>();

/** Renders the preview of a pane's selected row; null if nothing is selected. */
export function getPreview(state: State, id: PaneId, cells: number): PanePreview | null {
  const last = previewCache.get(state);
  if (last?.id === id && last.cells === cells) return last.preview;
  const row = getSelectedRow(state, id);
  const preview = row === undefined ? null : getPane(id).renderPreview(state, row as never, cells);
  previewCache.set(state, { id, cells, preview });
  return preview;
}

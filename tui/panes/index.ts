import type { PaneId, State } from '../state/model.ts';
import { decisionsPane } from './decisions.ts';
import { deliveriesPane } from './deliveries.ts';
import { eventsPane } from './events.ts';
import type { AnyPane, Preview } from './pane.ts';
import { tasksPane } from './tasks.ts';
import { workersPane } from './workers.ts';

/** In the order of their tabs. */
export const PANES: readonly AnyPane[] = [tasksPane, decisionsPane, workersPane, eventsPane, deliveriesPane];

const byId = Object.fromEntries(PANES.map((each) => [each.id, each])) as Record<PaneId, AnyPane>;

export const paneOf = (id: PaneId): AnyPane => byId[id];

export function selectedRow(state: State, id: PaneId): object | undefined {
  const { selected } = state.lists[id];
  return selected === null ? undefined : paneOf(id).row(state.data, selected);
}

// A state is never changed, so what it shows is worked out once: scrolling and drawing both ask.
const known = new WeakMap<State, { id: PaneId; cells: number; preview: Preview | null }>();

/** The preview of a pane's selected row; null when nothing is selected. */
export function previewOf(state: State, id: PaneId, cells: number): Preview | null {
  const last = known.get(state);
  if (last?.id === id && last.cells === cells) return last.preview;
  const row = selectedRow(state, id);
  const preview = row === undefined ? null : paneOf(id).preview(state, row as never, cells);
  known.set(state, { id, cells, preview });
  return preview;
}

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

/** The preview of a pane's selected row; null when nothing is selected. */
export function previewOf(state: State, id: PaneId, cells: number): Preview | null {
  const row = selectedRow(state, id);
  return row === undefined ? null : paneOf(id).preview(state, row as never, cells);
}

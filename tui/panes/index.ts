import { hasFactsBox } from '../layout/layout.ts';
import type { PaneId } from '../pane-ids.ts';
import type { State } from '../state/model.ts';
import type { StyledLine } from '../text/theme.ts';
import { busPane } from './bus.ts';
import { deliveriesPane } from './deliveries.ts';
import { eventsPane } from './events.ts';
import { locksPane } from './locks.ts';
import { memoriesPane } from './memories.ts';
import type { AnyPane, PanePreview } from './pane.ts';
import { peersPane } from './peers.ts';
import { projectsPane } from './projects.ts';
import { runnersPane } from './runners.ts';
import { statsPane } from './stats.ts';
import { usagePane } from './usage.ts';
import { workPane } from './work.ts';

/** The panes in the order of their numbers. */
export const PANES: readonly AnyPane[] = [
  workPane,
  busPane,
  eventsPane,
  usagePane,
  memoriesPane,
  deliveriesPane,
  statsPane,
  projectsPane,
  runnersPane,
];

/** Lists that belong to another pane. */
const LISTS_WITHOUT_TAB: readonly AnyPane[] = [peersPane, locksPane];

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

// States are immutable, so each preview is rendered once for both scrolling and drawing, at the width of each box.
const previewCache = new WeakMap<State, { id: PaneId; byCells: Map<number, PanePreview | null> }>();

function renderPreview(state: State, id: PaneId, cells: number): PanePreview | null {
  const last = previewCache.get(state);
  const byCells = last?.id === id ? last.byCells : new Map<number, PanePreview | null>();
  const known = byCells.get(cells);
  if (known !== undefined) return known;
  const row = getSelectedRow(state, id);
  const preview = row === undefined ? null : getPane(id).renderPreview(state, row as never, cells);
  byCells.set(cells, preview);
  previewCache.set(state, { id, byCells });
  return preview;
}

const joinedCache = new WeakMap<PanePreview, PanePreview>();

/** Puts the facts above the text. */
export function joinPreview(preview: PanePreview): PanePreview {
  const known = joinedCache.get(preview);
  if (known !== undefined) return known;
  const { facts = [], lines, findPatchLine, colour, ...others } = preview;
  const joined: PanePreview = {
    ...others,
    lines: facts.length === 0 ? lines : [...facts, ...lines],
    ...(colour ? { colour: (line: number, left: number) => colour(line - facts.length, left) } : {}),
    ...(findPatchLine ? { findPatchLine: (row: number) => facts.length + findPatchLine(row) } : {}),
  };
  joinedCache.set(preview, joined);
  return joined;
}

/** Renders the preview of a pane's selected row, without the facts if they have their own box; null if nothing is selected. */
export function getPreview(state: State, id: PaneId, cells: number): PanePreview | null {
  const preview = renderPreview(state, id, cells);
  return preview === null || hasFactsBox(state) ? preview : joinPreview(preview);
}

/** Renders the facts about the selected row, and what of them each question requires; null if nothing is selected. */
export function getFacts(
  state: State,
  id: PaneId,
  cells: number,
): { lines: readonly StyledLine[]; essential: NonNullable<PanePreview['essential']> } | null {
  const preview = renderPreview(state, id, cells);
  return preview === null ? null : { lines: preview.facts ?? [], essential: preview.essential ?? {} };
}

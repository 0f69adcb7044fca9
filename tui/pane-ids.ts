/** In the order of their digits. The last four have no digit: two belong to Bus, M opens the memories, S the figures. */
export const PANE_IDS = [
  'tasks',
  'decisions',
  'asks',
  'workers',
  'bus',
  'usage',
  'events',
  'deliveries',
  'peers',
  'locks',
  'memories',
  'stats',
] as const;
export type PaneId = (typeof PANE_IDS)[number];

/** Lists that hold the rows of all workspaces, if several are shown: pending items, tasks and workers. */
export const COMBINED_PANE_IDS = ['tasks', 'decisions', 'asks', 'workers'] as const satisfies PaneId[];
export type CombinedPaneId = (typeof COMBINED_PANE_IDS)[number];

export const isCombinedPane = (id: PaneId): id is CombinedPaneId =>
  (COMBINED_PANE_IDS as readonly PaneId[]).includes(id);

/** Lists that fill a wide screen, with their preview. */
export const SOLE_PANES: ReadonlySet<PaneId> = new Set(['memories', 'stats']);

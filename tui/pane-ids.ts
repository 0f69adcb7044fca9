/** The lists, in the order of their numbers. The last two have no number: they belong to Bus. */
export const PANE_IDS = [
  'work',
  'bus',
  'events',
  'usage',
  'memories',
  'deliveries',
  'stats',
  'projects',
  'runners',
  'peers',
  'locks',
] as const;
export type PaneId = (typeof PANE_IDS)[number];

/** Lists that hold the rows of all workspaces, if several are shown. */
export const COMBINED_PANE_IDS = ['work'] as const satisfies PaneId[];
export type CombinedPaneId = (typeof COMBINED_PANE_IDS)[number];

export const isCombinedPane = (id: PaneId): id is CombinedPaneId =>
  (COMBINED_PANE_IDS as readonly PaneId[]).includes(id);

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

/** Lists that have a wide screen to themselves, with their preview. */
export const SOLE_PANES: ReadonlySet<PaneId> = new Set(['memories', 'stats']);

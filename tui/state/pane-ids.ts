/** In the order of their digits. The last three have no digit: two belong to Bus, and M opens the memories. */
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
] as const;
export type PaneId = (typeof PANE_IDS)[number];

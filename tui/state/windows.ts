/**
 * How much the dashboard holds of lists that grow forever: the newest `first` are fetched when it connects, and at
 * most `most` are kept as more arrive.
 */
export const WINDOWS = {
  events: { first: 200, most: 500 },
  notices: { first: 200, most: 200 },
  messages: { first: 200, most: 1000 },
  closedAsks: { first: 50, most: 200 },
  deliveries: { first: 500, most: 500 },
  sessions: { first: 1000, most: Number.POSITIVE_INFINITY },
} as const;

/** Describes how many rows a list holds if older ones may be missing. */
export const describeWindow = (kind: keyof typeof WINDOWS, held: number): string | undefined =>
  held < WINDOWS[kind].first ? undefined : `newest ${held}`;

/**
 * Of what never ends the dashboard holds the newest: `first` of them are fetched when it connects, and no more than `most`
 * are kept while they come in.
 */
export const WINDOWS = {
  events: { first: 200, most: 500 },
  notices: { first: 200, most: 200 },
  messages: { first: 200, most: 1000 },
  closedAsks: { first: 50, most: 200 },
  deliveries: { first: 500, most: 500 },
  sessions: { first: 1000, most: Number.POSITIVE_INFINITY },
} as const;

/** Says of a list that may have been cut how much of it is here. */
export const describeWindow = (kind: keyof typeof WINDOWS, held: number): string | undefined =>
  held < WINDOWS[kind].first ? undefined : `newest ${held}`;

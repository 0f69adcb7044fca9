/** Intervals and time limits, ms. */
export interface SlackPace {
  /** Pauses between connection attempts: the first, the longest, and the minimum part of a pause. */
  firstMs: number;
  longestMs: number;
  shortestMs: number;
  /** A connection that lasted this long was not a failure. */
  steadyMs: number;
  /** How long a connection is kept next to its successor. */
  lingerMs: number;
  helloMs: number;
  pingMs: number;
  /** Deadline for recording, then it is acknowledged anyway: Slack waits for three seconds. */
  acknowledgeMs: number;
}

export const USUAL_PACE: SlackPace = {
  firstMs: 1000,
  longestMs: 60_000,
  shortestMs: 250,
  steadyMs: 30_000,
  lingerMs: 10_000,
  helloMs: 15_000,
  pingMs: 15_000,
  acknowledgeMs: 2500,
};

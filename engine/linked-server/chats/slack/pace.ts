/** How often and how long, ms. */
export interface SlackPace {
  /** Pauses between tries to connect: the first, the longest, and what is left of one at least. */
  firstMs: number;
  longestMs: number;
  shortestMs: number;
  /** A connection that lived so long was no failure. */
  steadyMs: number;
  /** How long a connection is kept beside its successor. */
  lingerMs: number;
  helloMs: number;
  pingMs: number;
  /** What is not recorded by then is acknowledged all the same: Slack waits for three seconds. */
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

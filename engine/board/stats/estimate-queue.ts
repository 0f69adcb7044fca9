/** A session that runs or waits for a free worker. */
export interface LiveRun {
  agent: string;
  /** When its run started, Unix ms; null for a waiting one. */
  startedAt: number | null;
}

/**
 * Estimates when the last of them has ended, Unix ms, if each takes as long as the median run of its agent and no new
 * ones arrive. Null if nothing is live, or if one has no earlier run. A session that has run longer than the median
 * is assumed to end now.
 */
export function estimateQueueEnd(
  live: readonly LiveRun[],
  { now, cap, runMs }: { now: number; cap: number; runMs: ReadonlyMap<string, number> },
): number | null {
  if (live.length === 0 || live.some(({ agent }) => !runMs.has(agent))) return null;
  const running = live.filter(({ startedAt }) => startedAt !== null);
  const waiting = live.filter(({ startedAt }) => startedAt === null);
  /** When each slot is free. */
  const places = running.map(({ agent, startedAt }) => Math.max(now, startedAt! + runMs.get(agent)!));
  while (places.length < cap) places.push(now);
  let end = Math.max(...places);
  for (const { agent } of waiting) {
    const next = places.indexOf(Math.min(...places));
    places[next] = places[next]! + runMs.get(agent)!;
    end = Math.max(end, places[next]!);
  }
  return end;
}

import type { Clock } from '../base/clock.ts';

/** Counts failed signatures per address. Only failures are ever refused for it. */
export interface Failures {
  /** One more failure from `remote`: null, or the seconds to wait when there have been too many. */
  recordFailure(remote: string): number | null;
}

interface Count {
  since: number;
  failures: number;
}

/** At most `limit` failures per window and address; the address whose count began first is forgotten first. */
export function createFailures({
  clock,
  limit = 50,
  windowMs = 60_000,
  addresses = 1000,
}: {
  clock: Clock;
  limit?: number;
  windowMs?: number;
  addresses?: number;
}): Failures {
  const counts = new Map<string, Count>();
  return {
    recordFailure(remote) {
      const now = clock.monotonic();
      let count = counts.get(remote);
      if (count === undefined || now - count.since >= windowMs) {
        counts.delete(remote);
        if (counts.size >= addresses) counts.delete(counts.keys().next().value as string);
        count = { since: now, failures: 0 };
        counts.set(remote, count);
      }
      count.failures += 1;
      if (count.failures <= limit) return null;
      return Math.max(1, Math.ceil((count.since + windowMs - now) / 1000));
    },
  };
}

/** Minimum interval for writing a last-seen time, so that not every request is a write. */
const NOTED_MS = 60_000;

/** Reports whether `now` must be written as a last-seen time. Also true after a clock was set back. */
export const isSightingDue = (seenAt: number | null, now: number): boolean =>
  Math.abs(now - (seenAt ?? 0)) >= NOTED_MS;

/** When somebody was seen last is written at most so often, so that not every request is a write. */
const NOTED_MS = 60_000;

/** Whether `now` is to be written as the time at which somebody was seen. It is after a clock was set back, too. */
export const isSightingDue = (seenAt: number | null, now: number): boolean =>
  Math.abs(now - (seenAt ?? 0)) >= NOTED_MS;

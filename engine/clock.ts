/** Time as a dependency, so that tests can move it. Only `now` is ever faked. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC with milliseconds, e.g. `2026-11-21T07:00:00.000Z`. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString();

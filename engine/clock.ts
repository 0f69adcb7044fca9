/** Time as a dependency, so that tests can move it. Only `now` is ever faked. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 in UTC with milliseconds, e.g. `2026-11-21T07:00:00.000Z`. */
export const rfc3339 = lastResult((ms: number) => new Date(ms).toISOString());

/** The rows of one commit share their millisecond, and formatting it again for each is a part of a request's time. */
function lastResult(format: (ms: number) => string): (ms: number) => string {
  let last = Number.NaN;
  let text = '';
  return (ms) => {
    if (ms !== last) {
      text = format(ms);
      last = ms;
    }
    return text;
  };
}

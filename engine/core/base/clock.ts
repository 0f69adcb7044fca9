/** Time as a dependency, so that tests can control it. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. The clock may be set, and so jump either way. */
  now(): number;
  /** Returns milliseconds since the machine started: never set, and the same for every process until the next start. */
  monotonic(): number;
}

/** Start time of this process, by the clock of performance.now(), which is faster. */
const STARTED_AT = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.floor(STARTED_AT + performance.now()),
};

/** RFC 3339 in UTC with milliseconds, e.g. `2026-11-21T07:00:00.000Z`. */
export const rfc3339 = rememberLast((ms: number) => new Date(ms).toISOString());

/**
 * Caches the last result: the rows of one commit share their millisecond, and formatting it again for each costs
 * noticeable time.
 */
function rememberLast(format: (ms: number) => string): (ms: number) => string {
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

import type { Clock } from '../../engine/core/base/clock.ts';

/** 2026-01-02T03:04:05Z. */
export const NOW = 1_767_323_045_000;

export interface FakeClock extends Clock {
  /** Sets the wall clock without letting time pass. */
  set(ms: number): void;
  /** Lets time pass. */
  advance(ms: number): void;
}

export function fakeClock(start = NOW): FakeClock {
  let now = start;
  let passed = 1_000_000;
  return {
    now: () => now,
    monotonic: () => passed,
    set: (ms) => {
      now = ms;
    },
    advance: (ms) => {
      now += ms;
      passed += ms;
    },
  };
}

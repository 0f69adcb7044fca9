import type { Clock } from './clock.ts';

/**
 * Maximum time between clock checks: timers stop while a machine sleeps, clocks are set, and Node's timers are
 * limited to 24.8 days.
 */
const LONGEST_SLEEP_MS = 60_000;

/** Waits for the next due time. Does not keep the process alive, and has no timer while nothing is due. */
export interface DueTimer {
  /**
   * Sets the next due time, Unix ms, replacing the previous one; null or Infinity for none.
   * @param atLeastMs minimum wait even if it is overdue: a pause after a failure
   */
  sleepUntil(dueAt: number | null, atLeastMs?: number): void;
  /** Reports whether the due time has come. */
  isDue(): boolean;
  /** Stops; nothing becomes due any more. */
  close(): void;
}

/** Calls `onDue` once for each `sleepUntil`, never from inside it. */
export function createDueTimer({
  clock,
  onDue,
  longestSleepMs = LONGEST_SLEEP_MS,
}: {
  clock: Pick<Clock, 'now'>;
  onDue(): void;
  longestSleepMs?: number;
}): DueTimer {
  let next = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const isDue = (): boolean => next <= clock.now();

  function startTimer(atLeastMs: number): void {
    clearTimeout(timer);
    if (isClosed || next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(checkDue, Math.max(atLeastMs, Math.min(longestSleepMs, next - clock.now())));
    timer.unref();
  }

  function checkDue(): void {
    if (isDue()) onDue();
    else startTimer(0);
  }

  return {
    sleepUntil(dueAt, atLeastMs = 0) {
      next = dueAt ?? Number.POSITIVE_INFINITY;
      startTimer(atLeastMs);
    },
    isDue,
    close() {
      isClosed = true;
      next = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
    },
  };
}

import type { Clock } from './clock.ts';

/**
 * A look at the clock at least this often: timers stand still while a machine sleeps, clocks are set, and no timer of
 * Node's is longer than 24.8 days.
 */
const LONGEST_SLEEP_MS = 60_000;

/** Waits for what is due next. Keeps no process alive, and with nothing to wait for there is no timer. */
export interface DueTimer {
  /**
   * Sets what is due next, Unix ms, in place of what was set before; null or Infinity for nothing.
   * @param atLeastMs however long that has been due: a pause after a failure
   */
  sleepUntil(dueAt: number | null, atLeastMs?: number): void;
  /** Whether the time of what is due next has come. */
  isDue(): boolean;
  /** Nothing becomes due any more. */
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

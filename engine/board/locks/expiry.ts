import type { Clock } from '../../base/clock.ts';
import type { Storage } from '../../storage/index.ts';

/** A look at least this often: timers do not run while a machine sleeps, and clocks are set. */
const LONGEST_MS = 60_000;
/** After a write that failed. */
const PAUSE_MS = 5_000;

export interface Expiry {
  /** Something was granted or given back: what is next may be another. */
  changed(): void;
  start(): void;
  close(): void;
}

/** Ends what has run out when its time comes. With nothing to wait for there is no timer. */
export function createExpiry({
  storage,
  clock,
  nextAt,
  expire,
}: {
  storage: Pick<Storage, 'write' | 'onCommit'>;
  clock: Clock;
  /** The next end, ms; null for none. */
  nextAt(): number | null;
  /** Inside `storage.write`. */
  expire(): void;
}): Expiry {
  let next: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let state: 'off' | 'waiting' | 'expiring' = 'off';
  let hasChanged = false;
  let forget: () => void = () => undefined;

  const isDue = (): boolean => next !== null && next <= clock.now();

  function wait(atLeastMs = 0): void {
    clearTimeout(timer);
    if (next === null) return;
    const pause = Math.min(LONGEST_MS, Math.max(atLeastMs, next - clock.now()));
    timer = setTimeout(look, pause).unref();
  }

  function look(): void {
    if (state !== 'waiting') return;
    if (!isDue()) {
      wait();
      return;
    }
    state = 'expiring';
    storage.write(expire).then(
      () => settled(0),
      () => settled(PAUSE_MS),
    );
  }

  function settled(pauseMs: number): void {
    if (state === 'off') return;
    state = 'waiting';
    next = nextAt();
    wait(pauseMs);
  }

  function onCommit(): void {
    if (state !== 'waiting') return;
    if (hasChanged) {
      hasChanged = false;
      next = nextAt();
      wait();
    }
    if (isDue()) look();
  }

  return {
    changed() {
      hasChanged = true;
    },
    start() {
      if (state !== 'off') return;
      forget = storage.onCommit(onCommit);
      state = 'waiting';
      next = nextAt();
      look();
    },
    close() {
      state = 'off';
      clearTimeout(timer);
      forget();
    },
  };
}

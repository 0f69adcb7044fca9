import type { Clock } from '../../base/clock.ts';
import { createDueTimer } from '../../base/due-timer.ts';
import type { Storage } from '../../storage/index.ts';

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
  let state: 'off' | 'waiting' | 'expiring' = 'off';
  let hasChanged = false;
  let forget: () => void = () => undefined;

  const timer = createDueTimer({ clock, onDue: expireNow });

  function expireNow(): void {
    if (state !== 'waiting') return;
    state = 'expiring';
    storage.write(expire).then(
      () => settled(0),
      () => settled(PAUSE_MS),
    );
  }

  function settled(pauseMs: number): void {
    if (state === 'off') return;
    state = 'waiting';
    timer.sleepUntil(nextAt(), pauseMs);
  }

  function onCommit(): void {
    if (state !== 'waiting') return;
    if (hasChanged) {
      hasChanged = false;
      timer.sleepUntil(nextAt());
    }
    if (timer.isDue()) expireNow();
  }

  return {
    changed() {
      hasChanged = true;
    },
    start() {
      if (state !== 'off') return;
      forget = storage.onCommit(onCommit);
      state = 'waiting';
      timer.sleepUntil(nextAt());
      if (timer.isDue()) expireNow();
    },
    close() {
      state = 'off';
      timer.close();
      forget();
    },
  };
}

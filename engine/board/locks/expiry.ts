import type { Clock } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import type { Storage } from '../../storage/index.ts';

/** Pause after a failed write. */
const PAUSE_MS = 5_000;

export interface LockExpiry {
  /** Marks that a lock was granted or released, so that the next expiry may differ. */
  changed(): void;
  start(): void;
  close(): void;
}

/** Calls `expire` when the next lock expires. Without locks there is no timer. */
export function createExpiry({
  storage,
  clock,
  nextAt,
  expire,
}: {
  storage: Pick<Storage, 'write' | 'onCommit'>;
  clock: Clock;
  /** Returns when the next lock expires, ms; null for none. */
  nextAt(): number | null;
  /** Called inside `storage.write`. */
  expire(): void;
}): LockExpiry {
  let state: 'off' | 'waiting' | 'expiring' = 'off';
  let hasChanged = false;
  let unsubscribe: () => void = () => undefined;

  const timer = createDueTimer({ clock, onDue: expireNow });

  function expireNow(): void {
    if (state !== 'waiting') return;
    state = 'expiring';
    storage.write(expire).then(
      () => sleepAfterWrite(0),
      () => sleepAfterWrite(PAUSE_MS),
    );
  }

  function sleepAfterWrite(pauseMs: number): void {
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
      unsubscribe = storage.onCommit(onCommit);
      state = 'waiting';
      timer.sleepUntil(nextAt());
      if (timer.isDue()) expireNow();
    },
    close() {
      state = 'off';
      timer.close();
      unsubscribe();
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves with the value of a promise, or with null after `ms` or once a signal aborts. Rejects if the promise does before
 * that, and ignores a later rejection. No timer is left behind.
 */
export async function settleWithin<T>(
  ms: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T | null> {
  const settled = new AbortController();
  const signals = signal === undefined ? [settled.signal] : [settled.signal, signal];
  const late = delay(ms, null, { signal: AbortSignal.any(signals) }).catch(() => null);
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}

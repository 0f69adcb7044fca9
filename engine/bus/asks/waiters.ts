import type { SvcError } from '../../core/base/errors.ts';
import { askCancelledError, askInterruptedError } from './refusals.ts';
import type { Ask } from './rows.ts';

/** Callers that wait for an answer. */
export interface AskWaiters {
  /** Resolves once the ask is no longer open. Rejects with `cancelled` on abort, with `engine_closing` on close. */
  wait(askId: number, signal: AbortSignal): Promise<Ask>;
  /** Reports whether anyone waits for the ask. */
  has(askId: number): boolean;
  /** Ends the waits for an ask that is no longer open. */
  settle(ask: Ask): void;
  close(): void;
}

interface Waiter {
  done(ask: Ask): void;
  fail(error: SvcError): void;
}

/** @param get - returns an ask; throws `not_found` */
export function createAskWaiters(get: (askId: number) => Ask): AskWaiters {
  const waiting = new Map<number, Set<Waiter>>();
  let isClosed = false;

  return {
    wait(askId, signal) {
      const ask = get(askId);
      if (ask.status !== 'open') return Promise.resolve(ask);
      if (signal.aborted) return Promise.reject(askCancelledError(ask));
      if (isClosed) return Promise.reject(askInterruptedError(ask));
      const { promise, resolve, reject } = Promise.withResolvers<Ask>();
      const waiters = waiting.get(askId) ?? new Set();
      const onAbort = (): void => {
        waiters.delete(waiter);
        if (waiters.size === 0 && waiting.get(askId) === waiters) waiting.delete(askId);
        reject(askCancelledError(ask));
      };
      const waiter: Waiter = {
        done(answered) {
          signal.removeEventListener('abort', onAbort);
          resolve(answered);
        },
        fail(error) {
          signal.removeEventListener('abort', onAbort);
          reject(error);
        },
      };
      waiting.set(askId, waiters.add(waiter));
      signal.addEventListener('abort', onAbort, { once: true });
      return promise;
    },
    has: (askId) => waiting.has(askId),
    settle(ask) {
      const waiters = waiting.get(ask.id) ?? [];
      waiting.delete(ask.id);
      for (const waiter of waiters) waiter.done(ask);
    },
    close() {
      isClosed = true;
      for (const [askId, waiters] of waiting)
        for (const waiter of waiters) waiter.fail(askInterruptedError(get(askId)));
      waiting.clear();
    },
  };
}

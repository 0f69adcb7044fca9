import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../core/base/backoff.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { DispatchDeps } from './context.ts';

/** Writes `work` durably; reports `what` while it cannot. */
export type PersistRun = <T>(what: string, work: () => T) => Promise<T>;

const PAUSES = { firstMs: 250, longestMs: 10_000 };

/** Retries a write about a past fact until it succeeds or the host closes. */
export const createPersist =
  ({ storage, log }: Pick<DispatchDeps, 'storage' | 'log'>, closing: AbortSignal): PersistRun =>
  async (what, work) => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await storage.write(work);
      } catch (error) {
        const { code, message } = asSvcError(error);
        if ((code !== 'storage_full' && code !== 'storage_failed') || closing.aborted) throw error;
        log.error({ error: message }, `${what} is not saved yet; trying again`);
        await delay(backoffMs(failures, PAUSES), undefined, { signal: closing });
      }
    }
  };

import type { Clock } from '../../core/base/clock.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import { type DeliveryOutcome, retryDelayMs } from './outcome.ts';

/** One queue per address, so that an unreachable one delays no other. */
export interface DeliveryLanes {
  /** Runs `work` after everything queued for that address before. While the address is down, it is postponed untried. */
  run(address: string, work: () => Promise<DeliveryOutcome | null>): Promise<DeliveryOutcome | null>;
}

export function createLanes(clock: Clock): DeliveryLanes {
  const enqueue = createKeyedQueue();
  const down = new Map<string, { until: number; failures: number; error: string }>();

  async function attemptUnlessDown(
    address: string,
    work: () => Promise<DeliveryOutcome | null>,
  ): Promise<DeliveryOutcome | null> {
    const known = down.get(address);
    if (known !== undefined && clock.now() < known.until) {
      return { state: 'failed', error: known.error, retry: true, until: known.until };
    }
    const outcome = await work();
    if (outcome?.state !== 'failed') {
      if (outcome !== null) down.delete(address);
      return outcome;
    }
    const failures = (known?.failures ?? 0) + 1;
    const until = clock.now() + retryDelayMs(failures);
    down.set(address, { until, failures, error: outcome.error });
    return { ...outcome, until };
  }

  return {
    run: (address, work) => enqueue(address, () => attemptUnlessDown(address, work)),
  };
}

import type { Clock } from '../../base/clock.ts';
import { createKeyedQueue } from '../../base/serial-queue.ts';
import { type Outcome, tryAgainMs } from './outcome.ts';

/** One queue for each address, so that a dead one delays nobody else. */
export interface Lanes {
  /** After what was queued for that address before. Postponed without a try while the address is known to be down. */
  run(address: string, work: () => Promise<Outcome | null>): Promise<Outcome | null>;
}

export function createLanes(clock: Clock): Lanes {
  const enqueue = createKeyedQueue();
  const down = new Map<string, { until: number; failures: number; error: string }>();

  async function attempt(address: string, work: () => Promise<Outcome | null>): Promise<Outcome | null> {
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
    const until = clock.now() + tryAgainMs(failures);
    down.set(address, { until, failures, error: outcome.error });
    return { ...outcome, until };
  }

  return {
    run: (address, work) => enqueue(address, () => attempt(address, work)),
  };
}

import { getHeapStatistics } from 'node:v8';

export interface IdleMemoryDeps {
  /** Node's own, which is there with `--expose-gc`; without it nothing is done. */
  collect: ((options: { type: 'major'; flavor: 'last-resort' }) => unknown) | undefined;
  /** Between two looks. */
  intervalMs?: number;
}

const INTERVAL_MS = 10_000;
/** An interval that used less than this share of one core was idle. */
const IDLE_SHARE = 0.05;
/** So much larger than after the last collection the heap has to be. */
const GROWN = 1.25;

/**
 * Gives memory back once a load is over: V8 collects when something is allocated, so an engine that nobody asks anything
 * would keep what its busiest minute took. One collection takes some tens of milliseconds, and there is one for each load.
 */
export function releaseIdleMemory({ collect, intervalMs = INTERVAL_MS }: IdleMemoryDeps): { close(): void } {
  if (collect === undefined) return { close: () => undefined };
  const heapSize = (): number => getHeapStatistics().total_heap_size;
  let kept = heapSize();
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    if ((user + system) / 1000 > IDLE_SHARE * intervalMs || heapSize() < kept * GROWN) return;
    collect({ type: 'major', flavor: 'last-resort' });
    kept = heapSize();
  }, intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

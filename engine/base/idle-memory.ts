import { getHeapStatistics } from 'node:v8';

export interface IdleMemoryDeps {
  /** Node's `gc`, which exists with `--expose-gc`; without it nothing is done. */
  collect: ((options: { type: 'major'; flavor: 'last-resort' }) => unknown) | undefined;
  /** Time between two checks, ms. */
  intervalMs?: number;
}

const INTERVAL_MS = 10_000;
/** An interval that used less than this share of one core was idle. */
const IDLE_SHARE = 0.05;
/** A collection needs the heap and the buffers outside of it to have grown by this factor since the last one. */
const GROWN = 1.25;

/**
 * Gives memory back after a load: V8 collects when something is allocated, so an idle process would keep what its busiest
 * minute took. There is one collection for each load, which takes some tens of milliseconds.
 */
export function releaseIdleMemory({ collect, intervalMs = INTERVAL_MS }: IdleMemoryDeps): { close(): void } {
  if (collect === undefined) return { close: () => undefined };
  const heapSize = (): number => {
    const { total_heap_size: heap, external_memory: buffers } = getHeapStatistics();
    return heap + buffers;
  };
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

import { platform } from './index.ts';
import { readResidentBytes } from './resident-memory.ts';

export interface IdleMemoryDeps {
  /** Node's `gc`, which exists with `--expose-gc`; without it nothing is done. */
  collect: ((options: { type: 'major'; flavor: 'last-resort' }) => unknown) | undefined;
  /** Milliseconds between two checks. */
  intervalMs?: number;
}

const INTERVAL_MS = 10_000;
/** An interval that used less than this share of one core was idle. */
const IDLE_SHARE = 0.05;
/** Minimum growth factor since the last time. */
const GROWN = 1.25;

/** Measures memory beyond the young generation, which grows and shrinks with every few requests. */
function measureMemory(): { heap: number; resident: number } {
  let heap = 0;
  let young = 0;
  // Not imported: a millisecond of each start.
  const { getHeapSpaceStatistics } = process.getBuiltinModule('node:v8');
  for (const { space_name, physical_space_size } of getHeapSpaceStatistics())
    if (space_name === 'new_space') young = physical_space_size;
    else heap += physical_space_size;
  return { heap, resident: readResidentBytes() - young };
}

/**
 * Releases memory after a load: V8 only collects on allocation, and the C library keeps freed memory, so an idle
 * process would keep its peak usage. Runs once per load, and takes some tens of milliseconds.
 */
export function releaseIdleMemory({ collect, intervalMs = INTERVAL_MS }: IdleMemoryDeps): { close(): void } {
  if (collect === undefined) return { close: () => undefined };
  let kept = measureMemory();
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    if ((user + system) / 1000 > IDLE_SHARE * intervalMs) return;
    const { heap, resident } = measureMemory();
    if (heap < kept.heap * GROWN && resident < kept.resident * GROWN) return;
    collect({ type: 'major', flavor: 'last-resort' });
    void platform.trimAllocator().then(() => {
      kept = measureMemory();
    });
  }, intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

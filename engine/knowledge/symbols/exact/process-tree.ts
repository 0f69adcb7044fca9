import { setTimeout as delay } from 'node:timers/promises';
import { platform } from '../../../core/platform/index.ts';

const LOOK_MS = 10;

const { processes } = platform;

/** A process and its descendants, as far as this machine reports them. */
export interface ProcessTree {
  pids: number[];
  /** Their combined memory. */
  mb: number;
}

export function readProcessTree(pid: number): ProcessTree {
  const children = Map.groupBy(
    (processes.listNow() ?? []).filter(({ zombie }) => !zombie),
    ({ ppid }) => ppid,
  );
  const pids: number[] = [];
  const waiting = [pid];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    pids.push(at);
    waiting.push(...(children.get(at) ?? []).map((child) => child.pid));
  }
  const bytes = pids.reduce((sum, each) => sum + processes.readMemory(each), 0);
  return { pids, mb: bytes / 1e6 };
}

function isRunning(pid: number): boolean {
  const entry = processes.read(pid);
  return typeof entry === 'object' && !entry.zombie;
}

/** Waits until killed processes are gone; a sandbox ends its processes a moment after its own end. */
export async function waitForEnd(pids: readonly number[], mostMs: number): Promise<void> {
  const until = performance.now() + mostMs;
  while (pids.some(isRunning) && performance.now() < until) await delay(LOOK_MS);
}

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const PROC = '/proc';
const PAGE = 4096;
const LOOK_MS = 10;

/** A process and its descendants, as far as this machine reports them. */
export interface ProcessTree {
  pids: number[];
  /** Their combined memory. */
  mb: number;
}

export function readProcessTree(pid: number): ProcessTree {
  const children = new Map<number, number[]>();
  const pages = new Map<number, number>();
  for (const name of listProcesses()) {
    const stat = readStat(name);
    if (stat === null) continue;
    pages.set(Number(name), stat.pages);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(name)]);
  }
  const pids: number[] = [];
  const waiting = [pid];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    pids.push(at);
    waiting.push(...(children.get(at) ?? []));
  }
  const held = pids.reduce((sum, each) => sum + (pages.get(each) ?? 0), 0);
  return { pids, mb: (held * PAGE) / 1e6 };
}

/** Waits until killed processes are gone; a sandbox ends its processes a moment after its own end. */
export async function waitForEnd(pids: readonly number[], mostMs: number): Promise<void> {
  const until = performance.now() + mostMs;
  while (pids.some((pid) => readStat(String(pid)) !== null) && performance.now() < until)
    await delay(LOOK_MS);
}

function listProcesses(): string[] {
  try {
    return readdirSync(PROC).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Returns the fields after the name, which may contain anything; null for a process that has ended. */
function readStat(name: string): { parent: number; pages: number } | null {
  try {
    const text = readFileSync(`${PROC}/${name}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : { parent: Number(fields[1]), pages: Number(fields[21]) };
  } catch {
    return null;
  }
}

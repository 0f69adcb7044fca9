import { readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Fields of /proc/<pid>/stat from utime on: user and system time, and those of its awaited children, in ticks. */
const readTimes = (pid: number | 'self'): number[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 15)
    .map(Number);

/** Returns the processor time in ms of this process, its ended children, and the given processes with theirs. */
export function readProcessorMs(pids: readonly number[] = []): number {
  const { user, system } = process.cpuUsage();
  const [, , childUser = 0, childSystem = 0] = readTimes('self');
  const others = pids.flatMap(readTimes).reduce((sum, ticks) => sum + ticks, 0);
  return (user + system) / 1000 + (childUser + childSystem + others) * TICK_MS;
}

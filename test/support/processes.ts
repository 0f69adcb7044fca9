import { readdirSync, readFileSync } from 'node:fs';
import { until } from './wait.ts';

/** How long processes have to end by themselves once their terminal is gone. */
const HANG_UP_MS = 2000;

/** What /proc says of a process; null when there is none. */
export interface ProcessStat {
  pid: number;
  /** One letter, `Z` for a process that has ended and waits for its parent. */
  state: string;
  parent: number;
  /** The process that called setsid for it: the program that a terminal was opened for. */
  session: number;
  /** Start time in clock ticks: with the pid it names one process for good. */
  started: string;
}

/** Reads `/proc/<pid>/stat`. The program's name may hold blanks and brackets, so fields are counted from its end. */
export function processStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent, , session] = fields;
    return { pid, state, parent: Number(parent), session: Number(session), started: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** Running, and not a zombie that waits for its parent. */
export function isRunning(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== null && stat.state !== 'Z';
}

const running = (): ProcessStat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processStat(Number(name)) ?? [])
    .filter((stat) => stat.state !== 'Z');

/** The running processes of a session, its leader among them. */
export const processesOfSession = (session: number): ProcessStat[] =>
  running().filter((stat) => stat.session === session);

/** The running processes that this one started. */
export const childrenOf = (pid: number): ProcessStat[] => running().filter((stat) => stat.parent === pid);

/** Waits until nothing is left of a session whose terminal was hung up; what outlasts its time is killed. */
export async function sessionEnded(leader: ProcessStat): Promise<void> {
  const deadline = performance.now() + HANG_UP_MS;
  await until(() => {
    const now = processStat(leader.pid);
    // With another start time the number belongs to somebody else by now.
    const left = now !== null && now.started !== leader.started ? [] : processesOfSession(leader.pid);
    if (performance.now() > deadline) for (const { pid } of left) kill(pid);
    return left.length === 0;
  }, `the end of everything in session ${leader.pid}`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

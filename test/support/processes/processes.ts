import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../wait.ts';

/** Milliseconds that processes have to end by themselves after their terminal is gone. */
const HANG_UP_MS = 2000;

/** Process state from /proc; null if the process does not exist. */
export interface ProcessStat {
  pid: number;
  /** One letter; `Z` is a zombie. */
  state: string;
  parent: number;
  /** Pid of the process that called setsid: the program that a terminal was opened for. */
  session: number;
  /** Start time in clock ticks; together with the pid it identifies a process permanently. */
  started: string;
}

/**
 * Reads `/proc/<pid>/stat`. The program's name may contain blanks and parentheses, so fields are counted from the
 * end.
 */
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

/** Reports whether a process is running and not a zombie. */
export function isRunning(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== null && stat.state !== 'Z';
}

const running = (): ProcessStat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processStat(Number(name)) ?? [])
    .filter((stat) => stat.state !== 'Z');

/** Returns the running processes of a session, including its leader. */
export const processesOfSession = (session: number): ProcessStat[] =>
  running().filter((stat) => stat.session === session);

/** Returns the running processes that this process started. */
export const childrenOf = (pid: number): ProcessStat[] => running().filter((stat) => stat.parent === pid);

/**
 * Waits until all processes of a hung-up terminal's session have ended; kills processes that exceed the time limit.
 */
export async function sessionEnded(leader: ProcessStat): Promise<void> {
  const deadline = performance.now() + HANG_UP_MS;
  await until(() => {
    const now = processStat(leader.pid);
    // If the start time differs, the pid has been reused.
    const left = now !== null && now.started !== leader.started ? [] : processesOfSession(leader.pid);
    if (performance.now() > deadline) for (const { pid } of left) kill(pid);
    return left.length === 0;
  }, `the end of everything in session ${leader.pid}`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has just ended.
  }
}
